//! TLS of a TCP connection, by rustls. The `mysql` library brings its own use of it.

use super::super::spec::{Tls, TlsMode};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{self, CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    StreamOwned,
};
use std::fmt::Display;
use std::io;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

/// Encrypted TCP connection.
pub(super) type TlsStream = StreamOwned<ClientConnection, TcpStream>;

/// Encrypt a connection whose server has agreed to it; return after the handshake.
pub(super) fn secured(stream: TcpStream, host: &str, tls: &Tls) -> io::Result<TlsStream> {
    let provider = Arc::new(crypto::ring::default_provider());
    let schemes = provider.signature_verification_algorithms;
    let authorities = tls.authorities.as_deref().filter(|_| tls.mode >= TlsMode::VerifyCa);
    let known = authorities.map(|file| known_by(file, &provider)).transpose()?;
    let verifier = Verifier { any_name: tls.mode < TlsMode::VerifyFull, known, schemes };
    let builder = ClientConfig::builder_with_provider(provider);
    let config = builder
        .with_safe_default_protocol_versions()
        .map_err(other)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_string()).map_err(other)?;
    let connection = ClientConnection::new(Arc::new(config), name).map_err(other)?;
    let mut stream = StreamOwned::new(connection, stream);
    stream.conn.complete_io(&mut stream.sock)?;
    Ok(stream)
}

fn other(error: impl Display) -> io::Error {
    io::Error::other(error.to_string())
}

/// Verifier by the authorities in a PEM file.
fn known_by(file: &Path, provider: &Arc<CryptoProvider>) -> io::Result<Arc<WebPkiServerVerifier>> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(other)? {
        roots.add(certificate.map_err(other)?).map_err(other)?;
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build().map_err(other)
}

/// Verification of a server's certificate as the mode asks.
#[derive(Debug)]
struct Verifier {
    /// True if a certificate for another host name is accepted.
    any_name: bool,
    /// Verifier by authorities; absent: any certificate is accepted.
    known: Option<Arc<WebPkiServerVerifier>>,
    schemes: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(known) = &self.known else { return Ok(ServerCertVerified::assertion()) };
        match known.verify_server_cert(own, chain, name, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.any_name => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        crypto::verify_tls12_signature(message, certificate, signature, &self.schemes)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        crypto::verify_tls13_signature(message, certificate, signature, &self.schemes)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.supported_schemes()
    }
}
