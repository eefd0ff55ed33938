//go:build !unix

package output

import "os"

// umask is what the user wants no new file to allow: nothing is known of it here.
const umask os.FileMode = 0

// keepOwner does nothing where files have no owner that a number names.
func keepOwner(string, os.FileInfo) {}
