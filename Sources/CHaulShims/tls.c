#include "CHaulTLS.h"

#include <openssl/ssl.h>

/// The slot of a connection that tells whether the peer's close_notify came. One for the process: made by the first
/// context that is watched, on the one thread that runs transfers.
static int slot = -1;

static void note_alert(const SSL *tls, int where, int value) {
    if (where == SSL_CB_READ_ALERT && (value & 0xff) == SSL_AD_CLOSE_NOTIFY) {
        SSL_set_ex_data((SSL *)tls, slot, (void *)tls);
    }
}

void haul_tls_watch(void *context) {
    if (slot < 0) slot = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
    SSL_CTX_set_info_callback((SSL_CTX *)context, note_alert);
}

void *haul_tls_hold(void *tls) {
    return tls != NULL && SSL_up_ref((SSL *)tls) == 1 ? tls : NULL;
}

int haul_tls_saw_close_notify(void *tls) {
    return slot >= 0 && SSL_get_ex_data((SSL *)tls, slot) != NULL;
}

void haul_tls_release(void *tls) {
    SSL_free((SSL *)tls);
}
