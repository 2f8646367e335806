//! The person's private key, and the file that it is sealed in: PKCS#8 in PEM, encrypted with a password
//! by scrypt and AES-256-CBC, as `openssl pkey` reads it.

use ed25519_dalek::pkcs8::KeypairBytes;
use ed25519_dalek::{Signer as _, SigningKey};
use pkcs8::der::pem::PemLabel as _;
use pkcs8::pkcs5::{EncryptionScheme, pbes2, scrypt};
use pkcs8::{
    EncodePrivateKey as _, EncryptedPrivateKeyInfoRef, LineEnding, PrivateKeyInfoRef,
    SecretDocument,
};
use zeroize::Zeroizing;

use super::key::{KeyError, PublicKey};
use super::signature::Signature;
use super::statement::Statement;

/// Why a key was not sealed or opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The file is no such file.
    #[error("it is no encrypted private key in PEM")]
    Form,
    /// It does not open.
    #[error("the password is wrong, or the file is damaged")]
    Closed,
    /// To try a password would take more memory or time than it is worth, or the file says nonsense of it.
    #[error("it asks for more work than 256 MiB of scrypt or ten million rounds of PBKDF2")]
    Cost,
    /// What is in it is another sort of key.
    #[error("it is no key of Ed25519")]
    Kind,
}

/// The most blocks of 128 bytes that scrypt may work through: each of them takes memory, or time.
const MAX_BLOCKS: u64 = 1 << 21;
/// The most rounds of PBKDF2.
const MAX_ROUNDS: u32 = 10_000_000;

/// A person's private key. It is wiped when it goes.
pub struct SecretKey {
    key: SigningKey,
    public: PublicKey,
}

impl SecretKey {
    /// The key that these 32 secret bytes make.
    pub fn new(seed: &[u8; 32]) -> Result<SecretKey, KeyError> {
        let key = SigningKey::from_bytes(seed);
        let public = PublicKey::from_bytes(key.verifying_key().as_bytes())?;
        Ok(SecretKey { key, public })
    }

    /// The public half.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Signs a statement.
    pub fn sign(&self, statement: &Statement) -> Signature {
        let signature = self.key.sign(&statement.bytes());
        Signature::ed25519(self.public.id(), &signature.to_bytes())
    }

    /// The key in PEM, sealed with this password. The salt and the vector are to be random, and never
    /// used again.
    ///
    /// Of version 1, without the public key: OpenSSL does not read version 2. Nor does it by itself take
    /// more than 32 MiB for scrypt, which makes N = 2^14.
    pub fn seal(
        &self,
        password: &[u8],
        salt: &[u8; 16],
        vector: [u8; 16],
    ) -> Result<Zeroizing<String>, SealError> {
        let bytes = KeypairBytes { secret_key: self.key.to_bytes(), public_key: None };
        let plain = bytes.to_pkcs8_der().map_err(|_| SealError::Form)?;
        let info = PrivateKeyInfoRef::try_from(plain.as_bytes()).map_err(|_| SealError::Form)?;
        let cost = scrypt::Params::new(14, 8, 1).map_err(|_| SealError::Form)?;
        let how = pbes2::Parameters::generate_scrypt_aes256cbc(cost, salt, vector);
        let sealed = info.encrypt_with_params(how.map_err(|_| SealError::Form)?, password);
        let pem = sealed.map_err(|_| SealError::Form)?;
        let pem = pem.to_pem(EncryptedPrivateKeyInfoRef::PEM_LABEL, LineEnding::LF);
        pem.map_err(|_| SealError::Form)
    }

    /// Opens what was sealed, here or by OpenSSL, from its PEM. Text before that is left out.
    pub fn open(pem: &str, password: &[u8]) -> Result<SecretKey, SealError> {
        let (label, sealed) = SecretDocument::from_pem(pem).map_err(|_| SealError::Form)?;
        EncryptedPrivateKeyInfoRef::validate_pem_label(label).map_err(|_| SealError::Form)?;
        let sealed = EncryptedPrivateKeyInfoRef::try_from(sealed.as_bytes());
        let sealed = sealed.map_err(|_| SealError::Form)?;
        if !is_affordable(&sealed.encryption_algorithm) {
            return Err(SealError::Cost);
        }
        let plain = sealed.decrypt(password);
        let plain = plain.map_err(|_| SealError::Closed)?;
        let info = PrivateKeyInfoRef::try_from(plain.as_bytes()).map_err(|_| SealError::Closed)?;
        let bytes = KeypairBytes::try_from(info).map_err(|_| SealError::Kind)?;
        SecretKey::new(&bytes.secret_key).map_err(|_| SealError::Kind)
    }
}

/// Whether a password is tried with bounded work. The file says how much that is, before anything tells
/// whose file it is.
fn is_affordable(scheme: &EncryptionScheme) -> bool {
    let EncryptionScheme::Pbes2(pbes2::Parameters { kdf, .. }) = scheme else { return true };
    match kdf {
        pbes2::Kdf::Scrypt(how) => {
            let factors = [how.block_size, how.parallelization].map(u64::from);
            let blocks = factors.iter().try_fold(how.cost_parameter, |n, by| n.checked_mul(*by));
            blocks.is_some_and(|blocks| (1..=MAX_BLOCKS).contains(&blocks))
        }
        pbes2::Kdf::Pbkdf2(how) => how.iteration_count <= MAX_ROUNDS,
        // Nothing else is opened.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use pkcs8::pkcs5::pbes2::{Kdf, Pbkdf2Params};

    use super::*;

    #[test]
    fn no_file_makes_opening_it_take_for_ever() {
        let sealed = pkcs8::der::asn1::OctetStringRef::new(&[0; 64]).unwrap();
        let how = |kdf| {
            let encryption = pbes2::EncryptionScheme::Aes256Cbc { iv: [0; 16] };
            let scheme = EncryptionScheme::Pbes2(pbes2::Parameters { kdf, encryption });
            let info =
                EncryptedPrivateKeyInfoRef { encryption_algorithm: scheme, encrypted_data: sealed };
            let der = SecretDocument::encode_msg(&info).unwrap();
            let pem = der.to_pem(EncryptedPrivateKeyInfoRef::PEM_LABEL, LineEnding::LF).unwrap();
            SecretKey::open(&pem, b"open sesame").map(|_| ())
        };
        let scrypt = |n, r, p| {
            let cost = scrypt::Params::new(14, 8, 1).unwrap();
            let fair = pbes2::ScryptParams::from_params_and_salt(cost, &[1; 16]).unwrap();
            how(Kdf::Scrypt(pbes2::ScryptParams {
                cost_parameter: n,
                block_size: r,
                parallelization: p,
                ..fair
            }))
        };
        let pbkdf2 = |rounds| {
            let fair = Pbkdf2Params::hmac_sha256(1, &[1; 16]).unwrap();
            how(Kdf::Pbkdf2(Pbkdf2Params { iteration_count: rounds, ..fair }))
        };
        for (n, r, p) in [
            (0, 8, 1),
            (1 << 19, 8, 1),
            (1 << 30, 8, 1),
            (1 << 14, 8, u16::MAX),
            (1 << 14, u16::MAX, 1),
            (u64::MAX, u16::MAX, u16::MAX),
        ] {
            assert_eq!(scrypt(n, r, p), Err(SealError::Cost), "{n} {r} {p}");
        }
        assert_eq!(pbkdf2(u32::MAX), Err(SealError::Cost));
        // What is not too much is tried, and does not open.
        assert_eq!(scrypt(1 << 10, 8, 1), Err(SealError::Closed));
        assert_eq!(pbkdf2(1_000), Err(SealError::Closed));
    }

    #[test]
    fn what_is_sealed_opens_with_its_password_only() {
        let key = SecretKey::new(&[7; 32]).unwrap();
        let pem = key.seal(b"open sesame", &[1; 16], [2; 16]).unwrap();
        assert!(pem.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"), "{}", *pem);
        let opened = SecretKey::open(&format!("a line\n{}", *pem), b"open sesame").unwrap();
        assert_eq!(opened.public(), key.public());
        let closed = SecretKey::open(&pem, b"open sesam").map(|_| ());
        assert_eq!(closed, Err(SealError::Closed));
        for text in ["", "x", &pem[..pem.len() / 2], &pem.replace("ENCRYPTED ", "")] {
            assert_eq!(SecretKey::open(text, b"open sesame").map(|_| ()), Err(SealError::Form));
        }
    }

    #[test]
    fn it_signs_what_its_public_half_verifies() {
        let key = SecretKey::new(&[7; 32]).unwrap();
        let now = crate::time::Stamp::parse("2026-09-30T08:00:00Z").unwrap();
        let book = crate::id::Id::new(now, 1);
        let statement = Statement::open(book, 3);
        assert_eq!(key.sign(&statement).verify(key.public(), &statement), Ok(()));
        let other = Statement::open(book, 4);
        assert!(key.sign(&statement).verify(key.public(), &other).is_err());
    }
}
