// OpenSSL's libcrypto, of which the digests are used. libvips loads it anyway.
#ifndef CCRYPTO_SHIMS_H
#define CCRYPTO_SHIMS_H

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#endif
