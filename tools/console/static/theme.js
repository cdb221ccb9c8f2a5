// Before the first paint: the colours that were chosen last.
"use strict";
try {
  const theme = localStorage.getItem("theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch { /* without storage the system's colours are used */ }
