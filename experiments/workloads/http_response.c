/* SPDX-License-Identifier: MIT
 *
 * The response parser: status line, header section, and a body that has a length, is chunked, or lasts until the
 * connection ends. Bodies are skipped, not kept.
 */
#include "workloads/http_fields.h"

#include <string.h>

enum response_state {
    RESPONSE_START,
    RESPONSE_VERSION,
    RESPONSE_STATUS,
    RESPONSE_REASON,
    RESPONSE_LINE_END,
    RESPONSE_FIELDS,
    RESPONSE_BODY,
    RESPONSE_CHUNK_SIZE,
    RESPONSE_CHUNK_EXTENSION,
    RESPONSE_CHUNK_SIZE_END,
    RESPONSE_CHUNK,
    RESPONSE_CHUNK_END, /* CR after the data */
    RESPONSE_CHUNK_END_LF,
    RESPONSE_TRAILER,
    RESPONSE_UNTIL_END,
    RESPONSE_DONE,
    RESPONSE_BAD,
};

#define RESPONSE_CHUNK_DIGITS_MAX 8

void http_response_begin(struct http_response_parser *parser, bool to_head)
{
    memset(parser, 0, offsetof(struct http_response_parser, fields));
    parser->to_head = to_head;
    parser->left = 0;
    parser->status = 0;
    parser->keep_alive = false;
    parser->body = HTTP_BODY_NONE;
    parser->body_length = 0;
    http_fields_begin(&parser->fields);
}

/* "HTTP/1.x " and three digits; digits counts the bytes of the version. */
static void response_version(struct http_response_parser *parser, uint8_t byte)
{
    static const char expected[] = "HTTP/1.";
    const uint8_t index = parser->digits++;
    parser->state = RESPONSE_VERSION;
    if (index < 7) {
        if (byte != (uint8_t)expected[index])
            parser->state = RESPONSE_BAD;
    } else if (index == 7) {
        parser->minor = (uint8_t)(byte - '0');
        if (byte != '0' && byte != '1')
            parser->state = RESPONSE_BAD;
    } else {
        parser->state = byte == ' ' ? RESPONSE_STATUS : RESPONSE_BAD;
        parser->digits = 0;
    }
}

static void response_status(struct http_response_parser *parser, uint8_t byte)
{
    if (parser->digits < 3) {
        if (byte < '0' || byte > '9') {
            parser->state = RESPONSE_BAD;
            return;
        }
        parser->status = (uint16_t)(parser->status * 10 + (byte - '0'));
        parser->digits++;
    } else if (byte == ' ' && parser->status >= 100) {
        parser->state = RESPONSE_REASON;
    } else if (byte == '\r' && parser->status >= 100) {
        parser->state = RESPONSE_LINE_END;
    } else {
        parser->state = RESPONSE_BAD;
    }
}

/* The header is complete: what body follows? RFC 9112 6.3. */
static void response_head(struct http_response_parser *parser)
{
    const struct http_fields *fields = &parser->fields;
    const bool coded = http_fields_has(fields, HTTP_FIELD_TRANSFER_ENCODING);
    const bool measured = http_fields_has(fields, HTTP_FIELD_CONTENT_LENGTH);
    parser->keep_alive = !fields->close && (parser->minor == 1 || fields->keep_alive);
    parser->body_length = fields->content_length;
    if ((measured && (fields->repeated || coded)) || (coded && !fields->chunked)) {
        parser->state = RESPONSE_BAD;
    } else if (parser->to_head || parser->status < 200 || parser->status == 204 || parser->status == 304) {
        parser->state = RESPONSE_DONE;
    } else if (coded) {
        parser->body = HTTP_BODY_CHUNKED;
        parser->state = RESPONSE_CHUNK_SIZE;
        parser->digits = 0;
    } else if (measured) {
        parser->body = HTTP_BODY_LENGTH;
        parser->left = fields->content_length;
        parser->state = parser->left > 0 ? RESPONSE_BODY : RESPONSE_DONE;
    } else {
        parser->body = HTTP_BODY_UNTIL_END;
        parser->keep_alive = false;
        parser->state = RESPONSE_UNTIL_END;
    }
}

static void response_field(struct http_response_parser *parser, uint8_t byte)
{
    const enum http_fields_step step = http_fields_feed(&parser->fields, byte);
    if (step == HTTP_FIELDS_MALFORMED || step == HTTP_FIELDS_TOO_LARGE)
        parser->state = RESPONSE_BAD;
    else if (step == HTTP_FIELDS_DONE && parser->state == RESPONSE_TRAILER)
        parser->state = RESPONSE_DONE;
    else if (step == HTTP_FIELDS_DONE)
        response_head(parser);
}

static int response_hexadecimal(uint8_t byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10;
    if (byte >= 'A' && byte <= 'F')
        return byte - 'A' + 10;
    return -1;
}

static void response_chunk_size(struct http_response_parser *parser, uint8_t byte)
{
    const int digit = response_hexadecimal(byte);
    if (digit >= 0 && parser->digits < RESPONSE_CHUNK_DIGITS_MAX) {
        parser->left = parser->left * 16 + (uint64_t)digit;
        parser->digits++;
    } else if (digit < 0 && parser->digits > 0 && byte == '\r') {
        parser->state = RESPONSE_CHUNK_SIZE_END;
    } else if (digit < 0 && parser->digits > 0 && (byte == ';' || byte == ' ' || byte == '\t')) {
        parser->state = RESPONSE_CHUNK_EXTENSION;
    } else {
        parser->state = RESPONSE_BAD;
    }
}

/* The LF after a chunk's size: data follows, or the trailer after a chunk of size zero. */
static void response_chunk_begins(struct http_response_parser *parser)
{
    if (parser->left > 0) {
        parser->state = RESPONSE_CHUNK;
        return;
    }
    http_fields_begin(&parser->fields);
    parser->state = RESPONSE_TRAILER;
}

/* LF or nothing. */
static bool response_expect(struct http_response_parser *parser, uint8_t byte, uint8_t expected,
                            enum response_state next)
{
    parser->state = byte == expected ? next : RESPONSE_BAD;
    return byte == expected;
}

static void response_byte(struct http_response_parser *parser, uint8_t byte)
{
    switch (parser->state) {
    case RESPONSE_START:
    case RESPONSE_VERSION:
        response_version(parser, byte);
        break;
    case RESPONSE_STATUS:
        response_status(parser, byte);
        break;
    case RESPONSE_REASON:
        if (byte == '\r')
            parser->state = RESPONSE_LINE_END;
        else if ((byte < ' ' && byte != '\t') || byte == 0x7f)
            parser->state = RESPONSE_BAD;
        break;
    case RESPONSE_LINE_END:
        response_expect(parser, byte, '\n', RESPONSE_FIELDS);
        break;
    case RESPONSE_FIELDS:
    case RESPONSE_TRAILER:
        response_field(parser, byte);
        break;
    case RESPONSE_CHUNK_SIZE:
        response_chunk_size(parser, byte);
        break;
    case RESPONSE_CHUNK_EXTENSION:
        if (byte == '\r')
            parser->state = RESPONSE_CHUNK_SIZE_END;
        else if (byte < ' ' && byte != '\t')
            parser->state = RESPONSE_BAD;
        break;
    case RESPONSE_CHUNK_SIZE_END:
        if (response_expect(parser, byte, '\n', RESPONSE_CHUNK))
            response_chunk_begins(parser);
        break;
    case RESPONSE_CHUNK_END:
        response_expect(parser, byte, '\r', RESPONSE_CHUNK_END_LF);
        break;
    default:
        if (response_expect(parser, byte, '\n', RESPONSE_CHUNK_SIZE))
            parser->digits = 0;
        break;
    }
}

/* Skips body bytes; how many. */
static size_t response_skip(struct http_response_parser *parser, size_t available)
{
    if (parser->state == RESPONSE_UNTIL_END)
        return available;
    const size_t count = available < parser->left ? available : (size_t)parser->left;
    parser->left -= count;
    if (parser->left == 0)
        parser->state = parser->state == RESPONSE_BODY ? RESPONSE_DONE : RESPONSE_CHUNK_END;
    return count;
}

static bool response_is_skipping(const struct http_response_parser *parser)
{
    return parser->state == RESPONSE_BODY || parser->state == RESPONSE_CHUNK || parser->state == RESPONSE_UNTIL_END;
}

enum http_progress http_response_feed(struct http_response_parser *parser, const void *bytes, size_t size,
                                      size_t *consumed)
{
    const uint8_t *at = bytes;
    size_t index = 0;
    bool head_done = false;
    while (index < size && !head_done && parser->state < RESPONSE_DONE) {
        if (response_is_skipping(parser)) {
            index += response_skip(parser, size - index);
            continue;
        }
        const bool in_head = parser->state <= RESPONSE_FIELDS;
        response_byte(parser, at[index++]);
        head_done = in_head && parser->state > RESPONSE_FIELDS && parser->state < RESPONSE_DONE;
    }
    *consumed = index;
    if (parser->state == RESPONSE_DONE)
        return HTTP_DONE;
    if (parser->state == RESPONSE_BAD)
        return HTTP_BAD;
    return head_done ? HTTP_HEAD_DONE : HTTP_MORE;
}

enum http_progress http_response_end(const struct http_response_parser *parser)
{
    if (parser->state == RESPONSE_UNTIL_END || parser->state == RESPONSE_DONE)
        return HTTP_DONE;
    return parser->state == RESPONSE_START ? HTTP_MORE : HTTP_BAD;
}
