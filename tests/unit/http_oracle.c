/* SPDX-License-Identifier: MIT
 *
 * The oracle: http-parser 2.9, as packaged.
 */
#include "http_oracle.h"

#include <http_parser.h>
#include <string.h>

static int oracle_url(http_parser *parser, const char *at, size_t length)
{
    struct oracle *oracle = parser->data;
    if (oracle->target_length + length >= sizeof(oracle->target))
        return 1;
    memcpy(oracle->target + oracle->target_length, at, length);
    oracle->target_length += length;
    return 0;
}

static int oracle_complete(http_parser *parser)
{
    struct oracle *oracle = parser->data;
    oracle->complete = true;
    oracle->head = parser->method == HTTP_HEAD;
    oracle->keep_alive = http_should_keep_alive(parser) != 0;
    return 0;
}

const char *oracle_ask(const char *bytes, size_t size, struct oracle *out)
{
    http_parser parser;
    http_parser_settings settings;
    memset(out, 0, sizeof(*out));
    http_parser_settings_init(&settings);
    settings.on_url = oracle_url;
    settings.on_message_complete = oracle_complete;
    http_parser_init(&parser, HTTP_REQUEST);
    parser.data = out;
    const size_t used = http_parser_execute(&parser, &settings, bytes, size);
    if (HTTP_PARSER_ERRNO(&parser) != HPE_OK)
        return http_errno_description(HTTP_PARSER_ERRNO(&parser));
    return used == size && out->complete ? NULL : "not complete";
}
