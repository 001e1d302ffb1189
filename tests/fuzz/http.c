/* SPDX-License-Identifier: MIT
 *
 * Property: any bytes at all, fed to the request and to the response parser, give the same outcome whole, byte by byte
 * and cut at a place that the bytes themselves choose; consumption never exceeds what was fed; a refusal has one of the
 * documented statuses; an accepted request is within the limits and its target starts with '/'.
 *
 * The same function serves libFuzzer (-Dfuzz=true) and the replay of the corpus.
 */
#include "claims.h"
#include "workloads/http.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Outcomes of up to so many pipelined messages are compared. */
#define MESSAGES_MAX 16

struct messages {
    int count;
    struct {
        int status; /* of a request: 200 or the refusal; of a response: its own, or -1 */
        bool keep_alive;
        size_t end;
        uint32_t target_sum;
    } items[MESSAGES_MAX];
};

static uint32_t sum_of(const char *text)
{
    uint32_t sum = 0;
    for (; *text; text++)
        sum = sum * 31 + (uint8_t)*text;
    return sum;
}

/* The end of the piece that starts at a place: step 0 cuts at cut only, else every step bytes. */
static size_t piece_end(size_t at, size_t size, size_t cut, size_t step)
{
    const size_t end = step > 0 ? at + step : at < cut ? cut : size;
    return end < size ? end : size;
}

static void check_request(const struct http_request_parser *parser, enum http_progress progress)
{
    static const int refusals[] = {400, 405, 413, 414, 431, 501, 505};
    bool known = false;
    for (size_t index = 0; index < sizeof(refusals) / sizeof(refusals[0]); index++)
        known |= refusals[index] == parser->status;
    HOLDS(progress != HTTP_BAD || known);
    if (progress != HTTP_DONE)
        return;
    HOLDS(parser->target[0] == '/' && parser->target_length <= HTTP_TARGET_MAX);
    HOLDS(strlen(parser->target) == parser->target_length);
    HOLDS(parser->method == HTTP_GET || parser->method == HTTP_HEAD);
    HOLDS(parser->fields.count <= HTTP_FIELDS_MAX && parser->fields.bytes <= HTTP_HEADER_MAX);
}

static void read_requests(const uint8_t *data, size_t size, size_t cut, size_t step, struct messages *out)
{
    static struct http_request_parser parser;
    enum http_progress progress = HTTP_MORE;
    memset(out, 0, sizeof(*out));
    http_request_begin(&parser);
    for (size_t at = 0; at < size && progress != HTTP_BAD && out->count < MESSAGES_MAX;) {
        const size_t end = piece_end(at, size, cut, step);
        size_t consumed;
        progress = http_request_feed(&parser, data + at, end - at, &consumed);
        HOLDS(consumed > 0 && consumed <= end - at);
        HOLDS(progress != HTTP_MORE || consumed == end - at);
        check_request(&parser, progress);
        at += consumed;
        if (progress == HTTP_MORE)
            continue;
        out->items[out->count].status = progress == HTTP_DONE ? 200 : parser.status;
        if (progress == HTTP_DONE) {
            out->items[out->count].keep_alive = parser.keep_alive;
            out->items[out->count].end = at;
            out->items[out->count].target_sum = sum_of(parser.target);
            http_request_begin(&parser);
        }
        out->count++;
    }
}

static void read_responses(const uint8_t *data, size_t size, size_t cut, size_t step, struct messages *out)
{
    struct http_response_parser parser;
    enum http_progress progress = HTTP_MORE;
    memset(out, 0, sizeof(*out));
    http_response_begin(&parser, false);
    for (size_t at = 0; at < size && progress != HTTP_BAD && out->count < MESSAGES_MAX;) {
        const size_t end = piece_end(at, size, cut, step);
        size_t consumed;
        progress = http_response_feed(&parser, data + at, end - at, &consumed);
        HOLDS(consumed > 0 && consumed <= end - at);
        HOLDS(progress == HTTP_DONE || progress == HTTP_BAD || progress == HTTP_HEAD_DONE || consumed == end - at);
        at += consumed;
        if (progress != HTTP_DONE && progress != HTTP_BAD)
            continue;
        out->items[out->count].status = progress == HTTP_DONE ? parser.status : -1;
        HOLDS(progress == HTTP_BAD || (parser.status >= 100 && parser.status <= 999));
        if (progress == HTTP_DONE) {
            out->items[out->count].keep_alive = parser.keep_alive;
            out->items[out->count].end = at;
            http_response_begin(&parser, false);
        }
        out->count++;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct messages whole, other;
    const size_t cut = size > 0 ? (data[0] * 257u + data[size - 1]) % (size + 1) : 0;
    read_requests(data, size, size, 0, &whole);
    read_requests(data, size, 0, 1, &other);
    HOLDS(memcmp(&whole, &other, sizeof(whole)) == 0);
    read_requests(data, size, cut, 0, &other);
    HOLDS(memcmp(&whole, &other, sizeof(whole)) == 0);
    read_responses(data, size, size, 0, &whole);
    read_responses(data, size, 0, 1, &other);
    HOLDS(memcmp(&whole, &other, sizeof(whole)) == 0);
    read_responses(data, size, cut, 0, &other);
    HOLDS(memcmp(&whole, &other, sizeof(whole)) == 0);
    return 0;
}
