package validate

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// manyMails refuses too many recipients.
func manyMails(c *cell.Cell, list grid.Names) string {
	if most := c.Settings().MaxMails; len(list) > most {
		return fmt.Sprintf(
			"denied: %d recipients of mail, at most %d are allowed (qmaster_params MAX_MAIL_RECIPIENTS): use the address of a mailing list", len(list), most)
	}
	return ""
}

// Mailable returns the addresses that a mailer takes for addresses, and a warning for each other one: it is left out.
func Mailable(list grid.Names) (to grid.Names, warnings []gdi.Answer) {
	for _, address := range list {
		if wrong := report.BadAddress(address); wrong != "" {
			warnings = append(warnings, gdi.Warn("warning: "+wrong+"; no mail is sent to it"))
			continue
		}
		to = append(to, address)
	}
	return to, warnings
}
