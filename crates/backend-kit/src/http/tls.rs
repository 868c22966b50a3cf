//! The encrypted connection: TLS 1.2 or 1.3 by rustls, with ring.

use super::server::{Trust, unreadable};
use iotbench_core::{Action, Cause, Error};
use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use std::sync::Arc;

/// The configuration that trusts so. The cryptography is this configuration's own: nothing is set for the process.
pub fn config(trust: &Trust) -> Result<Arc<ClientConfig>, Error> {
    let failed = |e: rustls::Error| Error::new(Cause::Tls, e);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions().map_err(failed)?;
    let builder = match trust {
        Trust::PublicAuthorities => {
            builder.with_root_certificates(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() })
        }
        Trust::Authorities(file) => {
            let mut roots = RootCertStore::empty();
            for certificate in CertificateDer::pem_file_iter(file).map_err(|e| unreadable(file, &e))? {
                roots.add(certificate.map_err(|e| unreadable(file, &e))?).map_err(failed)?;
            }
            if roots.is_empty() {
                return Err(unreadable(file, &"it holds no certificate").action(Action::Stop));
            }
            builder.with_root_certificates(roots)
        }
        Trust::Anybody => builder.dangerous().with_custom_certificate_verifier(Arc::new(Unchecked(provider))),
    };
    Ok(Arc::new(builder.with_no_client_auth()))
}

/// Accepts any certificate, but checks that the server holds its key.
#[derive(Debug)]
struct Unchecked(Arc<CryptoProvider>);

impl ServerCertVerifier for Unchecked {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
