// Whether a TLS connection was closed by its peer (close_notify) or cut: without the former, the end of a body that
// only the end of the connection marks may be an attacker's doing (RFC 8446 §6.1). libcurl 7.88 takes both for the same.
#pragma once

/// Notes close_notify on all connections of an SSL_CTX.
void haul_tls_watch(void *context);

/// Keeps an SSL object until `haul_tls_release`; NULL stays NULL.
void *haul_tls_hold(void *tls);

int haul_tls_saw_close_notify(void *tls);

void haul_tls_release(void *tls);
