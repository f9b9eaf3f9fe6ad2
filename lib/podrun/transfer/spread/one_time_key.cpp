// SPDX-License-Identifier: Apache-2.0
#include "podrun/transfer/spread/one_time_key.hpp"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace podrun::transfer {
namespace {

template <auto free>
struct Free {
  template <typename T>
  void operator()(T* object) const {
    free(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Free<EVP_PKEY_CTX_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>>;
using Text = std::unique_ptr<BIO, Free<BIO_free>>;

void check(bool is_done) {
  if (!is_done) throw std::runtime_error("OpenSSL cannot make a certificate");
}

Key make_key() {
  const KeyContext context(EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nullptr));
  EVP_PKEY* key = nullptr;
  check(context && EVP_PKEY_keygen_init(context.get()) == 1 &&
        EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context.get(), NID_X9_62_prime256v1) == 1 &&
        EVP_PKEY_keygen(context.get(), &key) == 1);
  return Key(key);
}

/// As `openssl req -x509` makes it: some programs accept only an authority as what they trust.
Certificate make_certificate(EVP_PKEY* key) {
  Certificate made(X509_new());
  X509* const certificate = made.get();
  check(certificate && X509_set_version(certificate, 2) == 1 &&  // X.509v3
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) == 1 &&
        ASN1_TIME_set_string(X509_getm_notBefore(certificate), "19700101000000Z") == 1 &&
        ASN1_TIME_set_string(X509_getm_notAfter(certificate), "99991231235959Z") == 1);
  X509_NAME* const name = X509_get_subject_name(certificate);
  const std::string common_name = "podrun";
  check(X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_ASC,
                                   reinterpret_cast<const unsigned char*>(common_name.data()),
                                   static_cast<int>(common_name.size()), -1, 0) == 1 &&
        X509_set_issuer_name(certificate, name) == 1 && X509_set_pubkey(certificate, key) == 1);
  X509V3_CTX context;
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  for (const auto& [id, value] : {std::pair(NID_subject_key_identifier, "hash"),
                                  std::pair(NID_basic_constraints, "critical,CA:TRUE")}) {
    const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, id, value));
    check(extension && X509_add_ext(certificate, extension.get(), -1) == 1);
  }
  check(X509_sign(certificate, key, EVP_sha256()) > 0);
  return made;
}

}  // namespace

Secret make_one_time_key() {
  const Key key = make_key();
  const Certificate certificate = make_certificate(key.get());
  const Text text(BIO_new(BIO_s_secmem()));
  check(text && PEM_write_bio_PrivateKey(text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1 &&
        PEM_write_bio_X509(text.get(), certificate.get()) == 1);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(text.get(), &bytes);
  check(size > 0);
  return Secret(std::string(bytes, static_cast<std::size_t>(size)));
}

}  // namespace podrun::transfer
