// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <libssh/libssh.h>

// The algorithms of a connection, as comma-separated lists by preference.
namespace podrun::ssh {

/// podrun's defaults: all algorithms of libssh 0.10 except SHA-1, CBC and DSA, cheap ones first; then those
/// of libssh 0.12 for servers that take no others.
inline constexpr std::string_view kKexAlgorithms =
    "curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256,ecdh-sha2-nistp384,ecdh-sha2-nistp521,"
    "diffie-hellman-group16-sha512,diffie-hellman-group18-sha512,diffie-hellman-group14-sha256"
#if LIBSSH_VERSION_INT >= SSH_VERSION_INT(0, 12, 0)
    ",mlkem768x25519-sha256,mlkem768nistp256-sha256,mlkem1024nistp384-sha384,sntrup761x25519-sha512,"
    "sntrup761x25519-sha512@openssh.com"
#endif
    ;
inline constexpr std::string_view kHostKeyAlgorithms =
    "ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521,rsa-sha2-512,rsa-sha2-256";
inline constexpr std::string_view kCiphers =
    "aes128-gcm@openssh.com,aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,aes256-ctr,aes192-ctr,"
    "aes128-ctr";
inline constexpr std::string_view kMacs =
    "hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com,hmac-sha2-256,hmac-sha2-512";

inline constexpr std::string_view kPublicKeyAlgorithms =
    "ssh-ed25519-cert-v01@openssh.com,ecdsa-sha2-nistp256-cert-v01@openssh.com,"
    "ecdsa-sha2-nistp384-cert-v01@openssh.com,ecdsa-sha2-nistp521-cert-v01@openssh.com,"
    "sk-ssh-ed25519-cert-v01@openssh.com,sk-ecdsa-sha2-nistp256-cert-v01@openssh.com,"
    "rsa-sha2-512-cert-v01@openssh.com,rsa-sha2-256-cert-v01@openssh.com,"
    "ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521,"
    "sk-ssh-ed25519@openssh.com,sk-ecdsa-sha2-nistp256@openssh.com,rsa-sha2-512,rsa-sha2-256";

/// In the order of the lists in algorithms.cpp.
enum class AlgorithmKind { kex, host_key, cipher, mac, public_key };
std::string_view our_algorithms(AlgorithmKind kind);

/// The list for a value of ssh_config(5): a plain one, or the defaults with `+` appended, `-` removed or `^`
/// put in front. Names that libssh does not know are dropped; none if no name is left.
std::optional<std::string> configured_algorithms(AlgorithmKind kind, std::string_view value);

/// Puts host key algorithms that sign with a key of one of these types first; otherwise keeps the order.
std::string prefer_key_types(std::string_view algorithms, const std::vector<std::string>& types);

/// Whether one of the algorithms signs with a key, or for a certificate, of this type.
bool accepts_key_type(std::string_view algorithms, std::string_view type);

}  // namespace podrun::ssh
