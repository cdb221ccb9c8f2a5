package serve

import (
	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/daemons"
	"github.com/quill-grid/quill/tools/web"
)

func webCommand(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "web", Usage: "serve the HTTP API of the cell in the foreground",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "listen", Value: web.DefaultListen, Usage: "`HOST:PORT`; other addresses than those of loopback need --tls-cert and --tls-key"},
			&cli.StringFlag{Name: "tls-cert", Usage: "PEM `FILE` with the certificate of this host"},
			&cli.StringFlag{Name: "tls-key", Usage: "PEM `FILE` with its private key"},
		}, logFlags()...),
		Action: func(c *cli.Context) error {
			where, err := cell.FindIn(env.Getenv)
			if err != nil {
				return err
			}
			ready := newNotifier(c.Context).awaits(where.Dir())
			return daemons.Web(c.Context, where, web.Options{Listen: c.String("listen"), Cert: c.String("tls-cert"), Key: c.String("tls-key"),
				Logger: logger(env, c, "web"), Ready: func(string) { ready() }})
		},
	}
}
