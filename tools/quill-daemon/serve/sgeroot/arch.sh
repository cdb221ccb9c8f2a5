#!/bin/sh
echo @ARCH@
