/* SPDX-License-Identifier: MIT
 *
 * HTTP/1.1 messages: a strict incremental parser for GET and HEAD requests, and one for responses.
 *
 * How it works. Both are fed bytes as they come and look at each byte once; the result never depends on how the bytes
 * were cut into packets. A parser stops at the end of its message and says how much it has consumed, so that pipelined
 * messages follow one another in one buffer. Memory is fixed; nothing is allocated.
 *
 * Strict means: CRLF only, no folded lines, no space before a colon, no control characters, exactly one Host in 1.1, no
 * body. What is refused gets a status, and the connection is to be closed, because what follows cannot be trusted.
 *
 * Source. RFC 9110 and RFC 9112.
 */
#ifndef PILFER_EXPERIMENTS_WORKLOADS_HTTP_H
#define PILFER_EXPERIMENTS_WORKLOADS_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_TARGET_MAX 2048 /* bytes of a request target; more: 414 */
#define HTTP_FIELDS_MAX 64   /* header fields; more: 431 */
#define HTTP_HEADER_MAX 8192 /* bytes of all header lines with the empty line that ends them; more: 431 */

enum http_method { HTTP_GET, HTTP_HEAD };

enum http_progress {
    HTTP_MORE,      /* everything was consumed; the message goes on */
    HTTP_HEAD_DONE, /* responses only: the header is complete, the body follows; feed again with the rest */
    HTTP_DONE,      /* the message is complete; the rest belongs to the next one */
    HTTP_BAD,       /* refused; only a new begin leaves this state */
};

/* The header section of either kind of message; private to the parsers but for what they copy out of it. */
struct http_fields {
    uint8_t state;
    uint8_t field; /* which known field the current line is */
    uint8_t name_length, value_length;
    uint8_t seen;  /* bit per known field */
    bool repeated; /* Host or a length came twice */
    bool close, keep_alive, chunked;
    uint16_t count;
    uint16_t bytes;
    uint64_t content_length;
    char name[20], value[128];
};

struct http_request_parser {
    uint8_t state;
    uint8_t method_length, version_length;
    char method_text[16], version_text[8];
    struct http_fields fields;
    uint16_t status; /* after HTTP_BAD: 400, 405, 413, 414, 431, 501 or 505 */

    /* The request, after HTTP_DONE. */
    enum http_method method;
    bool keep_alive; /* the client wants the connection kept */
    uint16_t target_length;
    char target[HTTP_TARGET_MAX + 1]; /* ends with a zero byte; starts with '/' */
};

/* Makes ready for the first or the next request. */
void http_request_begin(struct http_request_parser *parser);

/* True when part of a request has been consumed, so that the peer owes the rest. */
bool http_request_is_begun(const struct http_request_parser *parser);

/* Consumes up to size bytes and stores how many in *consumed. Returns HTTP_MORE, HTTP_DONE or HTTP_BAD. */
enum http_progress http_request_feed(struct http_request_parser *parser, const void *bytes, size_t size,
                                     size_t *consumed);

enum http_body { HTTP_BODY_NONE, HTTP_BODY_LENGTH, HTTP_BODY_CHUNKED, HTTP_BODY_UNTIL_END };

struct http_response_parser {
    uint8_t state;
    bool to_head; /* the answer to a HEAD request: no body whatever the fields say */
    uint8_t minor;
    uint8_t digits;
    struct http_fields fields;
    uint64_t left; /* of the body or of the current chunk */

    /* The response, after HTTP_HEAD_DONE or HTTP_DONE. */
    uint16_t status;
    bool keep_alive;
    enum http_body body;
    uint64_t body_length; /* with HTTP_BODY_LENGTH: as announced */
};

void http_response_begin(struct http_response_parser *parser, bool to_head);

/* As http_request_feed(). Returns HTTP_HEAD_DONE once per message that has a body, at the end of its header. */
enum http_progress http_response_feed(struct http_response_parser *parser, const void *bytes, size_t size,
                                      size_t *consumed);

/* The peer ended the connection. Returns HTTP_DONE if that completes the message (a body without a length), HTTP_MORE
 * if none was begun, HTTP_BAD if it was cut short. */
enum http_progress http_response_end(const struct http_response_parser *parser);

/* The standard words for a status that this program sends; "Unknown" for others. Static memory. */
const char *http_reason(int status);

#endif
