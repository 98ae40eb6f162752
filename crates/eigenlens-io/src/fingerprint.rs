//! What a file is, wherever it lies: its name, its size and a hash of its bytes.

use crate::error::{Error, Result};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// A file by name and content, without its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// The file's name.
    pub name: String,
    /// Its bytes.
    pub n_bytes: u64,
    /// SHA-256 of them, in hexadecimal digits.
    pub sha256: String,
}

impl Fingerprint {
    /// Reads a file; `None` for what has no lasting content, such as standard input or a folder.
    pub fn of(path: &Path) -> Result<Option<Fingerprint>> {
        if !path.is_file() {
            return Ok(None);
        }
        let read = |source| Error::Read { file: path.into(), source };
        let mut file = File::open(path).map_err(read)?;
        let (mut hash, mut n_bytes) = (Sha256::new(), 0);
        let mut buffer = vec![0; 1 << 16];
        loop {
            let n = file.read(&mut buffer).map_err(read)?;
            if n == 0 {
                break;
            }
            hash.update(&buffer[..n]);
            n_bytes += n as u64;
        }
        let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Some(Fingerprint { name, n_bytes, sha256 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-2, appendix B.1.
    #[test]
    fn a_file_is_known_by_its_bytes_not_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abc.txt");
        std::fs::write(&path, "abc").unwrap();
        let found = Fingerprint::of(&path).unwrap().unwrap();
        assert_eq!((found.name.as_str(), found.n_bytes), ("abc.txt", 3));
        assert_eq!(
            found.sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(Fingerprint::of(folder.path()).unwrap(), None);
        assert_eq!(Fingerprint::of(Path::new("-")).unwrap(), None);
    }
}
