/* SPDX-License-Identifier: MIT
 *
 * Promise (R37): what the HTTP parsers make of a message depends on its bytes alone, not on how they were cut into
 * packets, and each input is answered as the table says; the limits hold at n - 1, n and n + 1.
 *
 * Method. A table of requests and of responses; each is fed whole, byte by byte, and cut at every pair of places, and
 * all outcomes must be equal. Where a packaged parser is present it is asked as well: what ours accepts, it must accept
 * with the same meaning.
 */
#include "workloads/http.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_HTTP_PARSER
#include "http_oracle.h"
#endif

#define HOST "Host: a\r\n"

static const struct {
    const char *input;
    const char *why;
    int status;         /* 200: accepted; 0: incomplete; else as refused */
    const char *target; /* of an accepted one */
    bool head, keep_alive;
    const char *rest; /* what must be left over */
} requests[] = {
    {"GET / HTTP/1.1\r\n" HOST "\r\n", "the plain case", 200, "/", false, true, ""},
    {"HEAD /x?y=%20z HTTP/1.1\r\n" HOST "\r\n", "HEAD with a query", 200, "/x?y=%20z", true, true, ""},
    {"GET / HTTP/1.1\r\nHost:a\r\n\r\n", "no space after the colon", 200, "/", false, true, ""},
    {"GET / HTTP/1.1\r\nHost: \t a \t\r\n\r\n", "white space around a value", 200, "/", false, true, ""},
    {"GET / HTTP/1.1\r\nHost:\r\n\r\n", "an empty Host is one", 200, "/", false, true, ""},
    {"\r\nGET / HTTP/1.1\r\n" HOST "\r\n", "one empty line before", 200, "/", false, true, ""},
    {"\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n", "two are too many", 400, NULL, false, false, NULL},
    {"GET / HTTP/1.1\r\n" HOST "\r\nGET /b HTTP/1.1\r\n", "pipelined", 200, "/", false, true, "GET /b HTTP/1.1\r\n"},
    {"GET / HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n", "close", 200, "/", false, false, ""},
    {"GET / HTTP/1.1\r\n" HOST "connection: x, CLOSE\r\n\r\n", "close in a list", 200, "/", false, false, ""},
    {"GET / HTTP/1.1\r\n" HOST "Connection: keep-alive\r\n\r\n", "the default, said", 200, "/", false, true, ""},
    {"GET / HTTP/1.1\r\n" HOST "Connection: , a,,close ,\r\n\r\n", "a list with empty members", 200, "/", false, false,
     ""},
    {"GET / HTTP/1.1\r\n" HOST "Connection: a close\r\n\r\n", "a list without a comma", 400, NULL, false, false, NULL},
    {"GET / HTTP/1.0\r\n\r\n", "1.0 closes and needs no Host", 200, "/", false, false, ""},
    {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "1.0 kept alive", 200, "/", false, true, ""},
    {"GET / HTTP/1.0\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n", "both: close", 200, "/", false, false,
     ""},
    {"GET / HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n", "an empty body is none", 200, "/", false, true, ""},
    {"GET / HTTP/1.1\r\n" HOST "X: caf\xc3\xa9\r\n\r\n", "bytes over 0x7f in a value", 200, "/", false, true, ""},
    {"GET / HTTP/1.1\r\n" HOST "X-A-Very-Long-Name-Of-No-Meaning-Content-Length: 7\r\n\r\n", "a long name", 200, "/",
     false, true, ""},
    {"GET / HTTP/1.1\r\n" HOST, "incomplete", 0, NULL, false, false, NULL},
    {"", "nothing", 0, NULL, false, false, NULL},
    {"POST / HTTP/1.1\r\n" HOST "\r\n", "a method that is not allowed", 405, NULL, false, false, NULL},
    {"OPTIONS * HTTP/1.1\r\n" HOST "\r\n", "so is this one, whatever its target", 405, NULL, false, false, NULL},
    {"CONNECT a:80 HTTP/1.1\r\n" HOST "\r\n", "and this one", 405, NULL, false, false, NULL},
    {"BREW / HTTP/1.1\r\n" HOST "\r\n", "a method that does not exist", 501, NULL, false, false, NULL},
    {"get / HTTP/1.1\r\n" HOST "\r\n", "methods have case", 501, NULL, false, false, NULL},
    {"GETGETGETGETGETGE / HTTP/1.1\r\n", "a method of 17 letters", 501, NULL, false, false, NULL},
    {"GET / HTTP/2.0\r\n\r\n", "another version", 505, NULL, false, false, NULL},
    {"GET / HTTP/1.2\r\n\r\n", "another minor version", 505, NULL, false, false, NULL},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "the preface of HTTP/2", 505, NULL, false, false, NULL},
    {"GET /\r\n", "HTTP/0.9", 400, NULL, false, false, NULL},
    {"GET / http/1.1\r\n\r\n", "the version has case", 400, NULL, false, false, NULL},
    {"GET / HTTP/1.1 \r\n\r\n", "space after the version", 400, NULL, false, false, NULL},
    {"GET  / HTTP/1.1\r\n\r\n", "two spaces", 400, NULL, false, false, NULL},
    {" GET / HTTP/1.1\r\n\r\n", "space before the method", 400, NULL, false, false, NULL},
    {"GET\t/ HTTP/1.1\r\n\r\n", "tab for a space", 400, NULL, false, false, NULL},
    {"GET http://a/ HTTP/1.1\r\n" HOST "\r\n", "an absolute target", 400, NULL, false, false, NULL},
    {"GET /a#b HTTP/1.1\r\n", "a fragment", 400, NULL, false, false, NULL},
    {"GET /\x7f HTTP/1.1\r\n", "a control byte in the target", 400, NULL, false, false, NULL},
    {"GET /\xc3\xa9 HTTP/1.1\r\n", "a byte over 0x7f in the target", 400, NULL, false, false, NULL},
    {"GET / HTTP/1.1\n" HOST "\r\n", "bare LF after the request line", 400, NULL, false, false, NULL},
    {"GET / HTTP/1.1\r\nHost: a\n\r\n", "bare LF after a field", 400, NULL, false, false, NULL},
    {"GET / HTTP/1.1\r\nHost: a\r\n\n", "bare LF at the end", 400, NULL, false, false, NULL},
    {"GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n", "bare CR", 400, NULL, false, false, NULL},
    {"GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", "a folded line", 400, NULL, false, false, NULL},
    {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", "space before the colon", 400, NULL, false, false, NULL},
    {"GET / HTTP/1.1\r\n: a\r\n\r\n", "no name", 400, NULL, false, false, NULL},
    {"GET / HTTP/1.1\r\nHost\r\n\r\n", "no colon", 400, NULL, false, false, NULL},
    {"GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n", "a control byte in a value", 400, NULL, false, false, NULL},
    {"GET / HTTP/1.1\r\n\r\n", "no Host", 400, NULL, false, false, NULL},
    {"GET / HTTP/1.1\r\n" HOST HOST "\r\n", "two Hosts", 400, NULL, false, false, NULL},
    {"GET / HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\nx", "a body", 413, NULL, false, false, NULL},
    {"GET / HTTP/1.1\r\n" HOST "Content-Length: 0\r\nContent-Length: 0\r\n\r\n", "two lengths", 400, NULL, false, false,
     NULL},
    {"GET / HTTP/1.1\r\n" HOST "Content-Length: 0, 0\r\n\r\n", "a list of lengths", 400, NULL, false, false, NULL},
    {"GET / HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\n", "a negative length", 400, NULL, false, false, NULL},
    {"GET / HTTP/1.1\r\n" HOST "Content-Length: 1844674407370955161600\r\n\r\n", "a huge length", 400, NULL, false,
     false, NULL},
    {"GET / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "chunked", 501, NULL, false, false, NULL},
    {"GET / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n", "both lengths", 400, NULL,
     false, false, NULL},
    {"GET / HTTP/1.1\r\n" HOST "Upgrade: h2c\r\nConnection: Upgrade\r\n\r\n", "Upgrade", 501, NULL, false, false, NULL},
    {"GET / HTTP/1.1\r\n" HOST "Expect: 100-continue\r\n\r\n", "Expect", 400, NULL, false, false, NULL},
};

struct outcome {
    int status;
    size_t used;
    bool head, keep_alive;
    char target[HTTP_TARGET_MAX + 1];
};

/* Feeds bytes in pieces that end at first, second and size, each copied to memory of its exact size so that a sanitizer
 * sees every byte read beyond it. first > second: byte by byte. */
static void parse_request(const char *bytes, size_t size, size_t first, size_t second, struct outcome *out)
{
    static struct http_request_parser parser;
    memset(&parser, 0x5a, sizeof(parser)); /* nothing may depend on what was there before */
    memset(out, 0, sizeof(*out));
    http_request_begin(&parser);
    enum http_progress progress = HTTP_MORE;
    for (size_t at = 0; at < size && progress == HTTP_MORE;) {
        size_t end = at < first ? first : at < second ? second : size;
        if (first > second)
            end = at + 1;
        char *piece = malloc(end - at);
        memcpy(piece, bytes + at, end - at);
        size_t consumed;
        progress = http_request_feed(&parser, piece, end - at, &consumed);
        ck_assert_uint_le(consumed, end - at);
        if (progress == HTTP_MORE)
            ck_assert_uint_eq(consumed, end - at);
        free(piece);
        at += consumed;
        out->used = at;
    }
    if (progress == HTTP_DONE) {
        out->status = 200;
        out->head = parser.method == HTTP_HEAD;
        out->keep_alive = parser.keep_alive;
        memcpy(out->target, parser.target, parser.target_length + 1);
    } else if (progress == HTTP_BAD) {
        out->status = parser.status;
        out->used = 0; /* where exactly it was noticed does not matter */
    }
}

START_TEST(request_table)
{
    const char *input = requests[_i].input, *why = requests[_i].why;
    const size_t size = strlen(input);
    struct outcome whole, cut;
    parse_request(input, size, size, size, &whole);
    ck_assert_msg(whole.status == requests[_i].status, "%s: %d, expected %d", why, whole.status, requests[_i].status);
    if (whole.status == 200) {
        ck_assert_msg(strcmp(whole.target, requests[_i].target) == 0, "%s: target %s", why, whole.target);
        ck_assert_msg(whole.head == requests[_i].head && whole.keep_alive == requests[_i].keep_alive, "%s", why);
        ck_assert_msg(strcmp(input + whole.used, requests[_i].rest) == 0, "%s: left %s", why, input + whole.used);
    }
    for (size_t first = 0; first <= size; first++)
        for (size_t second = first; second <= size; second++) {
            parse_request(input, size, first, second, &cut);
            ck_assert_msg(memcmp(&cut, &whole, sizeof(cut)) == 0, "%s: cut at %zu and %zu: %d", why, first, second,
                          cut.status);
        }
    parse_request(input, size, 1, 0, &cut);
    ck_assert_msg(memcmp(&cut, &whole, sizeof(cut)) == 0, "%s: byte by byte", why);
}
END_TEST

static int status_of(const char *bytes, size_t size)
{
    struct outcome whole, single;
    parse_request(bytes, size, size, size, &whole);
    parse_request(bytes, size, 1, 0, &single);
    ck_assert_mem_eq(&whole, &single, sizeof(whole));
    return whole.status;
}

/* Limits: target, number of fields, size of the header section; each at n - 1, n and n + 1. */
START_TEST(request_limits)
{
    static char bytes[3 * HTTP_HEADER_MAX];
    static const int expected_target[] = {200, 200, 414}, expected_fields[] = {200, 200, 431};
    for (int over = -1; over <= 1; over++) {
        int size = snprintf(bytes, sizeof(bytes), "GET /%0*d HTTP/1.1\r\n" HOST "\r\n", HTTP_TARGET_MAX - 1 + over, 0);
        ck_assert_int_eq(status_of(bytes, (size_t)size), expected_target[over + 1]);

        size = snprintf(bytes, sizeof(bytes), "GET / HTTP/1.1\r\n" HOST);
        for (int field = 1; field < HTTP_FIELDS_MAX + over; field++)
            size += snprintf(bytes + size, sizeof(bytes) - (size_t)size, "X: %d\r\n", field);
        size += snprintf(bytes + size, sizeof(bytes) - (size_t)size, "\r\n");
        ck_assert_int_eq(status_of(bytes, (size_t)size), expected_fields[over + 1]);

        const int filler = HTTP_HEADER_MAX - (int)strlen(HOST "X: \r\n\r\n") + over;
        size = snprintf(bytes, sizeof(bytes), "GET / HTTP/1.1\r\n" HOST "X: %0*d\r\n\r\n", filler, 0);
        ck_assert_int_eq(status_of(bytes, (size_t)size), expected_fields[over + 1]);
    }
}
END_TEST

/* 1 to 64 and 1,000 pipelined requests in one buffer are taken one after the other, each where the last one ended. */
START_TEST(request_pipeline)
{
    static char bytes[1000 * 48];
    static struct http_request_parser parser;
    for (int count = 1; count <= 1000; count = count < 64 ? count + 1 : count + 936) {
        size_t size = 0, at = 0;
        for (int index = 0; index < count; index++)
            size += (size_t)snprintf(bytes + size, sizeof(bytes) - size, "GET /%d HTTP/1.1\r\n" HOST "\r\n", index);
        for (int index = 0; index < count; index++) {
            size_t consumed;
            http_request_begin(&parser);
            ck_assert_int_eq(http_request_feed(&parser, bytes + at, size - at, &consumed), HTTP_DONE);
            char expected[16];
            snprintf(expected, sizeof(expected), "/%d", index);
            ck_assert_str_eq(parser.target, expected);
            at += consumed;
        }
        ck_assert_uint_eq(at, size);
    }
}
END_TEST

/* ---- responses ---- */

#define OK_LENGTH "HTTP/1.1 200 OK\r\nContent-Length: "

static const struct {
    const char *input, *why;
    bool to_head;
    int status; /* 0: incomplete; -1: malformed */
    bool keep_alive;
    bool at_end; /* complete only once the connection has ended */
    const char *rest;
} responses[] = {
    {OK_LENGTH "5\r\n\r\nhello", "a length", false, 200, true, false, ""},
    {OK_LENGTH "0\r\n\r\nHTTP", "no body, and the next one", false, 200, true, false, "HTTP"},
    {OK_LENGTH "5\r\n\r\nhello!", "a byte too many is the next one's", false, 200, true, false, "!"},
    {OK_LENGTH "5\r\n\r\nhell", "short", false, 0, false, false, NULL},
    {OK_LENGTH "5\r\n\r\n", "to HEAD", true, 200, true, false, ""},
    {"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "no reason", false, 200, true, false, ""},
    {"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "1.0 closes", false, 200, false, false, ""},
    {"HTTP/1.1 204 No Content\r\n\r\n", "204 has no body", false, 204, true, false, ""},
    {"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno", "503", false, 503, false,
     false, ""},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "chunked", false, 200, true, false,
     ""},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nA;x=y\r\n0123456789\r\n0\r\nT: v\r\n\r\nX",
     "extension and trailer", false, 200, true, false, "X"},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello0\r\n\r\n", "no CRLF after a chunk", false, -1,
     false, false, NULL},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", "no chunk size", false, -1, false, false, NULL},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "another coding", false, -1, false, false, NULL},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", "both lengths", false, -1, false,
     false, NULL},
    {OK_LENGTH "1\r\nContent-Length: 2\r\n\r\n", "two lengths", false, -1, false, false, NULL},
    {"HTTP/1.1 200 OK\r\n\r\nuntil the end", "no length", false, 200, false, true, ""},
    {"HTTP/2 200\r\n\r\n", "another version", false, -1, false, false, NULL},
    {"HTTP/1.1 20 OK\r\n\r\n", "two digits", false, -1, false, false, NULL},
    {"HTTP/1.1 099 OK\r\n\r\n", "a status below 100", false, -1, false, false, NULL},
    {"HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n", "bare LF", false, -1, false, false, NULL},
    {"hello", "not HTTP", false, -1, false, false, NULL},
    {"", "nothing", false, 0, false, false, NULL},
};

struct response_outcome {
    int status;
    bool keep_alive, at_end;
    size_t used, heads;
};

static void parse_response(const char *bytes, size_t size, bool to_head, size_t first, size_t second,
                           struct response_outcome *out)
{
    struct http_response_parser parser;
    memset(&parser, 0x5a, sizeof(parser));
    memset(out, 0, sizeof(*out));
    http_response_begin(&parser, to_head);
    enum http_progress progress = HTTP_MORE;
    while (out->used < size && progress != HTTP_DONE && progress != HTTP_BAD) {
        const size_t at = out->used, end = at < first ? first : at < second ? second : size;
        char *piece = malloc(end - at);
        memcpy(piece, bytes + at, end - at);
        size_t consumed;
        progress = http_response_feed(&parser, piece, end - at, &consumed);
        out->heads += progress == HTTP_HEAD_DONE;
        out->used += consumed;
        free(piece);
    }
    if (progress != HTTP_DONE && progress != HTTP_BAD && size > 0 && http_response_end(&parser) == HTTP_DONE) {
        out->at_end = true;
        progress = HTTP_DONE;
    }
    out->status = progress == HTTP_DONE ? parser.status : progress == HTTP_BAD ? -1 : 0;
    out->keep_alive = progress == HTTP_DONE && parser.keep_alive;
    if (progress == HTTP_BAD)
        out->used = 0;
}

START_TEST(response_table)
{
    const char *input = responses[_i].input, *why = responses[_i].why;
    const size_t size = strlen(input);
    struct response_outcome whole, cut;
    parse_response(input, size, responses[_i].to_head, size, size, &whole);
    ck_assert_msg(whole.status == responses[_i].status, "%s: %d", why, whole.status);
    ck_assert_msg(whole.keep_alive == responses[_i].keep_alive && whole.at_end == responses[_i].at_end, "%s", why);
    if (whole.status > 0)
        ck_assert_msg(strcmp(input + whole.used, responses[_i].rest) == 0, "%s: left %s", why, input + whole.used);
    for (size_t first = 0; first <= size; first++)
        for (size_t second = first; second <= size; second++) {
            parse_response(input, size, responses[_i].to_head, first, second, &cut);
            ck_assert_msg(cut.status == whole.status && cut.used == whole.used && cut.heads == whole.heads &&
                              cut.keep_alive == whole.keep_alive && cut.at_end == whole.at_end,
                          "%s: cut at %zu and %zu", why, first, second);
        }
}
END_TEST

/* A message that was begun and cut short is told from one that was never begun. */
START_TEST(response_end)
{
    struct http_response_parser parser;
    size_t consumed;
    http_response_begin(&parser, false);
    ck_assert_int_eq(http_response_end(&parser), HTTP_MORE);
    http_response_feed(&parser, "HTTP", 4, &consumed);
    ck_assert_int_eq(http_response_end(&parser), HTTP_BAD);
    http_response_begin(&parser, false);
    http_response_feed(&parser, OK_LENGTH "2\r\n\r\nx", strlen(OK_LENGTH "2\r\n\r\nx"), &consumed);
    http_response_feed(&parser, "x", 1, &consumed);
    http_response_begin(&parser, false);
    http_response_feed(&parser, OK_LENGTH "2\r\n\r\n", strlen(OK_LENGTH "2\r\n\r\n"), &consumed);
    ck_assert_int_eq(http_response_end(&parser), HTTP_BAD);
}
END_TEST

/* ---- the packaged parser as an oracle ---- */

#ifdef HAVE_HTTP_PARSER
/* What we accept, the packaged parser accepts, with the same method, target and end, and we keep no connection that it
 * would close. */
static void ask_oracle(const char *input, size_t size)
{
    struct outcome ours;
    struct oracle theirs;
    parse_request(input, size, size, size, &ours);
    if (ours.status != 200)
        return;
    const char *complaint = oracle_ask(input, ours.used, &theirs);
    ck_assert_msg(complaint == NULL, "accepted here, refused by the oracle (%s): %s", complaint, input);
    ck_assert_str_eq(theirs.target, ours.target);
    ck_assert_int_eq(theirs.head, ours.head);
    /* The oracle overlooks "close" behind a tab or beside "keep-alive", and members of a list that starts with a comma.
     */
    if (ours.keep_alive && !strstr(input, ":,"))
        ck_assert(theirs.keep_alive);
}

START_TEST(oracle_table)
{
    ask_oracle(requests[_i].input, strlen(requests[_i].input));
}
END_TEST

/* The table's inputs with one to three bytes changed, by a fixed generator. */
START_TEST(oracle_mutations)
{
    static const char bytes[] = "\r\n :\tGHx/1.,\x7f";
    uint32_t random = 1 + (uint32_t)_i;
    char input[256];
    const size_t size = strlen(requests[_i].input);
    for (int round = 0; round < 2000 && size > 0 && size < sizeof(input); round++) {
        memcpy(input, requests[_i].input, size + 1);
        for (int change = 0; change <= round % 3; change++) {
            random = random * 1664525u + 1013904223u;
            input[(random >> 8) % size] = bytes[(random >> 24) % (sizeof(bytes) - 1)];
        }
        ask_oracle(input, size);
    }
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("http");
    TCase *tests = tcase_create("http");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, request_table, 0, (int)(sizeof(requests) / sizeof(requests[0])));
    tcase_add_test(tests, request_limits);
    tcase_add_test(tests, request_pipeline);
    tcase_add_loop_test(tests, response_table, 0, (int)(sizeof(responses) / sizeof(responses[0])));
    tcase_add_test(tests, response_end);
#ifdef HAVE_HTTP_PARSER
    tcase_add_loop_test(tests, oracle_table, 0, (int)(sizeof(requests) / sizeof(requests[0])));
    tcase_add_loop_test(tests, oracle_mutations, 0, (int)(sizeof(requests) / sizeof(requests[0])));
#else
    puts("no packaged HTTP parser: its opinion is not asked");
#endif
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
