/* SPDX-License-Identifier: MIT
 *
 * The request parser. Byte errors are refused where they stand; what concerns the whole line or the whole header is
 * decided at its end, in a fixed order, so that the status does not depend on packet borders either.
 *
 *   request line   version malformed 400, version other than 1.0 and 1.1 505, method known 405, unknown 501, target 400
 *   header         Host missing or repeated 400, two kinds of length 400, Expect 400, any transfer coding 501, upgrade
 *                  501, a body 413
 */
#include "workloads/http_fields.h"

#include <string.h>

enum request_state {
    REQUEST_START,     /* nothing yet; one empty line may come before a request (RFC 9112 2.2) */
    REQUEST_EMPTY_END, /* after CR of that line */
    REQUEST_METHOD_FIRST,
    REQUEST_METHOD,
    REQUEST_TARGET,
    REQUEST_VERSION,
    REQUEST_LINE_END,
    REQUEST_FIELDS,
    REQUEST_DONE,
    REQUEST_BAD,
};

void http_request_begin(struct http_request_parser *parser)
{
    parser->state = REQUEST_START;
    parser->method_length = parser->version_length = 0;
    parser->target_length = 0;
    parser->status = 0;
    http_fields_begin(&parser->fields);
}

bool http_request_is_begun(const struct http_request_parser *parser)
{
    return parser->state != REQUEST_START && parser->state != REQUEST_METHOD_FIRST && parser->state != REQUEST_DONE;
}

static void request_refuse(struct http_request_parser *parser, uint16_t status)
{
    parser->status = status;
    parser->state = REQUEST_BAD;
}

static bool request_method_is(const struct http_request_parser *parser, const char *name)
{
    return strlen(name) == parser->method_length && memcmp(name, parser->method_text, parser->method_length) == 0;
}

static void request_method(struct http_request_parser *parser, uint8_t byte)
{
    if (byte == ' ' && parser->method_length > 0) {
        parser->state = REQUEST_TARGET;
        return;
    }
    if (!http_is_token(byte)) {
        request_refuse(parser, 400);
        return;
    }
    if (parser->method_length == sizeof(parser->method_text)) {
        request_refuse(parser, 501);
        return;
    }
    parser->method_text[parser->method_length++] = (char)byte;
    parser->state = REQUEST_METHOD;
}

static void request_target(struct http_request_parser *parser, uint8_t byte)
{
    if (byte == ' ' && parser->target_length > 0) {
        parser->target[parser->target_length] = '\0';
        parser->state = REQUEST_VERSION;
        return;
    }
    if (byte <= ' ' || byte >= 0x7f || byte == '#') {
        request_refuse(parser, 400);
        return;
    }
    if (parser->target_length == HTTP_TARGET_MAX) {
        request_refuse(parser, 414);
        return;
    }
    parser->target[parser->target_length++] = (char)byte;
}

/* The request line is complete up to its CR. */
static void request_line(struct http_request_parser *parser)
{
    static const char *const known[] = {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH"};
    const char *version = parser->version_text;
    if (parser->version_length != 8 || memcmp(version, "HTTP/", 5) != 0 || version[5] < '0' || version[5] > '9' ||
        version[6] != '.' || version[7] < '0' || version[7] > '9') {
        request_refuse(parser, 400);
        return;
    }
    if (version[5] != '1' || version[7] > '1') {
        request_refuse(parser, 505);
        return;
    }
    if (request_method_is(parser, "GET")) {
        parser->method = HTTP_GET;
    } else if (request_method_is(parser, "HEAD")) {
        parser->method = HTTP_HEAD;
    } else {
        uint16_t status = 501;
        for (size_t index = 0; index < sizeof(known) / sizeof(known[0]); index++)
            if (request_method_is(parser, known[index]))
                status = 405;
        request_refuse(parser, status);
        return;
    }
    if (parser->target[0] != '/')
        request_refuse(parser, 400);
    else
        parser->state = REQUEST_LINE_END;
}

static void request_version(struct http_request_parser *parser, uint8_t byte)
{
    if (byte == '\r')
        request_line(parser);
    else if (parser->version_length == sizeof(parser->version_text))
        request_refuse(parser, 400);
    else
        parser->version_text[parser->version_length++] = (char)byte;
}

/* The header is complete. */
static void request_complete(struct http_request_parser *parser)
{
    const struct http_fields *fields = &parser->fields;
    const bool minor_one = parser->version_text[7] == '1';
    const bool coded = http_fields_has(fields, HTTP_FIELD_TRANSFER_ENCODING);
    const bool measured = http_fields_has(fields, HTTP_FIELD_CONTENT_LENGTH);
    if (fields->repeated || (minor_one && !http_fields_has(fields, HTTP_FIELD_HOST)) || (coded && measured) ||
        http_fields_has(fields, HTTP_FIELD_EXPECT)) {
        request_refuse(parser, 400);
    } else if (coded || http_fields_has(fields, HTTP_FIELD_UPGRADE)) {
        request_refuse(parser, 501);
    } else if (measured && fields->content_length > 0) {
        request_refuse(parser, 413);
    } else {
        parser->keep_alive = !fields->close && (minor_one || fields->keep_alive);
        parser->state = REQUEST_DONE;
    }
}

static void request_field(struct http_request_parser *parser, uint8_t byte)
{
    switch (http_fields_feed(&parser->fields, byte)) {
    case HTTP_FIELDS_MORE:
        break;
    case HTTP_FIELDS_DONE:
        request_complete(parser);
        break;
    case HTTP_FIELDS_MALFORMED:
        request_refuse(parser, 400);
        break;
    case HTTP_FIELDS_TOO_LARGE:
        request_refuse(parser, 431);
        break;
    }
}

static void request_byte(struct http_request_parser *parser, uint8_t byte)
{
    switch (parser->state) {
    case REQUEST_START:
        if (byte == '\r')
            parser->state = REQUEST_EMPTY_END;
        else
            request_method(parser, byte);
        break;
    case REQUEST_EMPTY_END:
        if (byte == '\n')
            parser->state = REQUEST_METHOD_FIRST;
        else
            request_refuse(parser, 400);
        break;
    case REQUEST_METHOD_FIRST:
    case REQUEST_METHOD:
        request_method(parser, byte);
        break;
    case REQUEST_TARGET:
        request_target(parser, byte);
        break;
    case REQUEST_VERSION:
        request_version(parser, byte);
        break;
    case REQUEST_LINE_END:
        if (byte == '\n')
            parser->state = REQUEST_FIELDS;
        else
            request_refuse(parser, 400);
        break;
    default:
        request_field(parser, byte);
        break;
    }
}

enum http_progress http_request_feed(struct http_request_parser *parser, const void *bytes, size_t size,
                                     size_t *consumed)
{
    const uint8_t *at = bytes;
    size_t index = 0;
    while (index < size && parser->state < REQUEST_DONE)
        request_byte(parser, at[index++]);
    *consumed = index;
    if (parser->state == REQUEST_DONE)
        return HTTP_DONE;
    return parser->state == REQUEST_BAD ? HTTP_BAD : HTTP_MORE;
}

const char *http_reason(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 400:
        return "Bad Request";
    case 405:
        return "Method Not Allowed";
    case 413:
        return "Content Too Large";
    case 414:
        return "URI Too Long";
    case 431:
        return "Request Header Fields Too Large";
    case 501:
        return "Not Implemented";
    case 502:
        return "Bad Gateway";
    case 503:
        return "Service Unavailable";
    case 505:
        return "HTTP Version Not Supported";
    default:
        return "Unknown";
    }
}
