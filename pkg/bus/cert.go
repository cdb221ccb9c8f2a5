package bus

import "crypto/x509"

// CertUser returns the user that a certificate names by the configuration of the cell; mapped is false when the cell
// has no such rule. The error is why it is refused.
type CertUser func(*x509.Certificate) (user string, mapped bool, err error)

// CertValues returns the values of a field of a certificate: cn, email, dns or uri.
func CertValues(cert *x509.Certificate) func(field string) []string {
	return func(field string) (values []string) {
		switch field {
		case "cn":
			return []string{cert.Subject.CommonName}
		case "email":
			return cert.EmailAddresses
		case "dns":
			return cert.DNSNames
		case "uri":
			for _, u := range cert.URIs {
				values = append(values, u.String())
			}
		}
		return values
	}
}
