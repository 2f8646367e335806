//! How the seed lies on disk: JSON, the words sealed with a password.

use argon2::{Algorithm, Argon2, Params, Version};
use base64ct::{Base64, Encoding as _};
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use granted_store::entropy;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::Seed;

/// What is sealed is a seed and nothing else.
const PURPOSE: &[u8] = b"sats-seed-v1";

/// The way from the password to the key.
const KDF: &str = "argon2id";

/// What it costs: 64 MiB, three times over, in one lane.
const M_KIB: u32 = 64 * 1024;
const T: u32 = 3;
const P: u32 = 1;

/// What is opened may cost at most this, so that a file that somebody else made does not eat the machine.
const MAX_M_KIB: u32 = 1024 * 1024;
const MAX_T: u32 = 64;
const MAX_P: u32 = 16;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sealed {
    v: u32,
    kdf: String,
    m_kib: u32,
    t: u32,
    p: u32,
    salt: String,
    nonce: String,
    ct: String,
}

/// Why a sealed seed is not sealed or opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// It is no sealed seed.
    #[error("it is no sealed seed: {0}")]
    Form(String),
    /// It was sealed in a way that is not known here.
    #[error("it is sealed in a way that this version does not know: {0}")]
    Newer(String),
    /// Opening it would cost too much.
    #[error("opening it would take more memory or time than is allowed")]
    Costly,
    /// Which of the two cannot be told.
    #[error("the password is wrong, or the file is damaged")]
    Locked,
    /// The system does not do its part.
    #[error("{0}")]
    System(String),
}

impl Seed {
    /// The seed, sealed with this password: the text of its file.
    pub fn seal(&self, password: &[u8]) -> Result<String, SealError> {
        let system = |e: std::io::Error| SealError::System(e.to_string());
        let salt: [u8; 16] = entropy::random().map_err(system)?;
        let nonce: [u8; 24] = entropy::random().map_err(system)?;
        let key = key(password, &salt, M_KIB, T, P)?;
        let phrase = self.phrase();
        let payload = Payload { msg: phrase.as_bytes(), aad: PURPOSE };
        let sealed = cipher(&key).encrypt(&XNonce::from(nonce), payload);
        let sealed = Sealed {
            v: 1,
            kdf: KDF.to_owned(),
            m_kib: M_KIB,
            t: T,
            p: P,
            salt: Base64::encode_string(&salt),
            nonce: Base64::encode_string(&nonce),
            ct: Base64::encode_string(
                &sealed.map_err(|_| SealError::System("the seed cannot be sealed".into()))?,
            ),
        };
        let text = serde_json::to_string_pretty(&sealed);
        text.map(|text| text + "\n").map_err(|e| SealError::System(e.to_string()))
    }

    /// Checks that this could be opened by some password.
    pub fn check(text: &str) -> Result<(), SealError> {
        Parts::read(text).map(drop)
    }

    /// Opens what [`Seed::seal`] made.
    pub fn open(text: &str, password: &[u8]) -> Result<Seed, SealError> {
        let Parts { costs: (m_kib, t, p), salt, nonce, ct } = Parts::read(text)?;
        let key = key(password, &salt, m_kib, t, p)?;
        let payload = Payload { msg: &ct, aad: PURPOSE };
        let opened = cipher(&key).decrypt(&XNonce::from(nonce), payload);
        let opened = Zeroizing::new(opened.map_err(|_| SealError::Locked)?);
        let phrase = str::from_utf8(&opened).map_err(|_| SealError::Locked)?;
        Seed::parse(phrase).map_err(|_| SealError::Locked)
    }
}

/// A sealed seed that was read, and costs no more than is allowed.
struct Parts {
    costs: (u32, u32, u32),
    salt: Vec<u8>,
    nonce: [u8; 24],
    ct: Vec<u8>,
}

impl Parts {
    fn read(text: &str) -> Result<Parts, SealError> {
        let form = |e: &dyn std::fmt::Display| SealError::Form(e.to_string());
        let sealed: Sealed = serde_json::from_str(text).map_err(|e| form(&e))?;
        if sealed.v != 1 {
            return Err(SealError::Newer(format!("version {}", sealed.v)));
        }
        if sealed.kdf != KDF {
            return Err(SealError::Newer(format!("`{}`", sealed.kdf)));
        }
        if sealed.m_kib > MAX_M_KIB || sealed.t > MAX_T || sealed.p > MAX_P {
            return Err(SealError::Costly);
        }
        let salt = Base64::decode_vec(&sealed.salt).map_err(|e| form(&e))?;
        let nonce = Base64::decode_vec(&sealed.nonce).map_err(|e| form(&e))?;
        let nonce: [u8; 24] =
            nonce.try_into().map_err(|_| SealError::Form("its nonce has another size".into()))?;
        let ct = Base64::decode_vec(&sealed.ct).map_err(|e| form(&e))?;
        Ok(Parts { costs: (sealed.m_kib, sealed.t, sealed.p), salt, nonce, ct })
    }
}

fn cipher(key: &[u8; 32]) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&Key::from(*key))
}

fn key(
    password: &[u8],
    salt: &[u8],
    m_kib: u32,
    t: u32,
    p: u32,
) -> Result<Zeroizing<[u8; 32]>, SealError> {
    let form = |e: argon2::Error| SealError::Form(e.to_string());
    let params = Params::new(m_kib, t, p, Some(32)).map_err(form)?;
    let mut key = Zeroizing::new([0; 32]);
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    argon2.hash_password_into(password, salt, key.as_mut_slice()).map_err(form)?;
    Ok(key)
}
