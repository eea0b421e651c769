/* imap-curl.h - libcurl, loaded when the first mailbox is opened
 *
 * It brings two dozen libraries and six megabytes with it, and most relays and commands never
 * open a mailbox. */
#pragma once

#include <curl/curl.h>
#include <glib.h>

/* The functions of libcurl that are used, under its own names without "curl_easy_". */
typedef struct {
    CURL *(*init)(void);
    CURLcode (*setopt)(CURL *curl, CURLoption option, ...);
    CURLcode (*perform)(CURL *curl);
    CURLcode (*getinfo)(CURL *curl, CURLINFO info, ...);
    CURLcode (*send)(CURL *curl, const void *bytes, size_t length, size_t *sent);
    CURLcode (*recv)(CURL *curl, void *bytes, size_t size, size_t *got);
    void (*cleanup)(CURL *curl);
    const char *(*strerror)(CURLcode code);
} ImapCurl;

/* The same every time, never freed. NULL with ERROR_CONFIG when it is not installed. Any
 * thread. */
const ImapCurl *imap_curl(GError **error);
