/* SPDX-License-Identifier: MIT
 *
 * Header sections, byte by byte. The value of a field that matters is kept until its line ends and then looked at; an
 * interesting value that does not fit is refused rather than cut.
 */
#include "workloads/http_fields.h"

#include <string.h>
#include <strings.h>

enum fields_state {
    FIELDS_LINE, /* first byte of a line */
    FIELDS_NAME,
    FIELDS_SPACE, /* between colon and value */
    FIELDS_VALUE,
    FIELDS_LINE_END, /* after CR: LF must follow */
    FIELDS_LAST_END, /* after CR of the empty line */
};

static const struct {
    const char *name;
    enum http_field field;
} fields_known[] = {
    {"connection", HTTP_FIELD_CONNECTION}, {"content-length", HTTP_FIELD_CONTENT_LENGTH},
    {"expect", HTTP_FIELD_EXPECT},         {"host", HTTP_FIELD_HOST},
    {"upgrade", HTTP_FIELD_UPGRADE},       {"transfer-encoding", HTTP_FIELD_TRANSFER_ENCODING},
};

bool http_is_token(uint8_t byte)
{
    if ((byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z'))
        return true;
    return byte != 0 && strchr("!#$%&'*+-.^_`|~", byte) != NULL;
}

void http_fields_begin(struct http_fields *fields)
{
    memset(fields, 0, offsetof(struct http_fields, name));
}

/* The name is complete: which field is it? */
static void fields_recognise(struct http_fields *fields)
{
    fields->field = HTTP_FIELD_OTHER;
    fields->value_length = 0;
    for (size_t index = 0; index < sizeof(fields_known) / sizeof(fields_known[0]); index++)
        if (strlen(fields_known[index].name) == fields->name_length &&
            strncasecmp(fields_known[index].name, fields->name, fields->name_length) == 0)
            fields->field = (uint8_t)fields_known[index].field;
}

static const char *fields_skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* Connection: a list of tokens, RFC 9110 5.6.1; close and keep-alive matter. */
static bool fields_read_connection(struct http_fields *fields)
{
    const char *at = fields->value, *end = fields->value + fields->value_length;
    while (at < end) {
        const char *token = at = fields_skip_space(at, end);
        while (at < end && http_is_token((uint8_t)*at))
            at++;
        const size_t length = (size_t)(at - token);
        if (length == 5 && strncasecmp(token, "close", length) == 0)
            fields->close = true;
        if (length == 10 && strncasecmp(token, "keep-alive", length) == 0)
            fields->keep_alive = true;
        at = fields_skip_space(at, end);
        if (at < end && *at++ != ',')
            return false;
    }
    return true;
}

static bool fields_read_length(struct http_fields *fields)
{
    if (fields->value_length == 0 || fields->value_length > 18)
        return false;
    fields->content_length = 0;
    for (uint8_t index = 0; index < fields->value_length; index++) {
        if (fields->value[index] < '0' || fields->value[index] > '9')
            return false;
        fields->content_length = fields->content_length * 10 + (uint64_t)(fields->value[index] - '0');
    }
    return true;
}

/* The line is complete; false if its value is malformed. */
static bool fields_read_line(struct http_fields *fields)
{
    while (fields->value_length > 0 &&
           (fields->value[fields->value_length - 1] == ' ' || fields->value[fields->value_length - 1] == '\t'))
        fields->value_length--;
    if (fields->field == HTTP_FIELD_OTHER)
        return true;
    if (fields->field != HTTP_FIELD_CONNECTION && http_fields_has(fields, (enum http_field)fields->field))
        fields->repeated = true;
    fields->seen |= (uint8_t)(1u << fields->field);
    switch (fields->field) {
    case HTTP_FIELD_CONNECTION:
        return fields_read_connection(fields);
    case HTTP_FIELD_CONTENT_LENGTH:
        return fields_read_length(fields);
    case HTTP_FIELD_TRANSFER_ENCODING:
        fields->chunked = fields->value_length == 7 && strncasecmp(fields->value, "chunked", 7) == 0;
        return true;
    default:
        return true;
    }
}

static enum http_fields_step fields_start_line(struct http_fields *fields, uint8_t byte)
{
    if (byte == '\r') {
        fields->state = FIELDS_LAST_END;
        return HTTP_FIELDS_MORE;
    }
    if (!http_is_token(byte))
        return HTTP_FIELDS_MALFORMED; /* a folded line, a bare LF, a control character */
    if (++fields->count > HTTP_FIELDS_MAX)
        return HTTP_FIELDS_TOO_LARGE;
    fields->name[0] = (char)byte;
    fields->name_length = 1;
    fields->state = FIELDS_NAME;
    return HTTP_FIELDS_MORE;
}

static enum http_fields_step fields_name(struct http_fields *fields, uint8_t byte)
{
    if (byte == ':') {
        fields_recognise(fields);
        fields->state = FIELDS_SPACE;
        return HTTP_FIELDS_MORE;
    }
    if (!http_is_token(byte))
        return HTTP_FIELDS_MALFORMED;
    /* A name longer than any known one stays unknown: its length no longer grows. */
    if (fields->name_length < sizeof(fields->name))
        fields->name[fields->name_length++] = (char)byte;
    return HTTP_FIELDS_MORE;
}

static enum http_fields_step fields_value(struct http_fields *fields, uint8_t byte)
{
    if (byte == '\r') {
        fields->state = FIELDS_LINE_END;
        return HTTP_FIELDS_MORE;
    }
    if ((byte < ' ' && byte != '\t') || byte == 0x7f)
        return HTTP_FIELDS_MALFORMED;
    if (fields->state == FIELDS_SPACE && (byte == ' ' || byte == '\t'))
        return HTTP_FIELDS_MORE;
    fields->state = FIELDS_VALUE;
    if (fields->field == HTTP_FIELD_OTHER || fields->field == HTTP_FIELD_HOST)
        return HTTP_FIELDS_MORE;
    if (fields->value_length == sizeof(fields->value))
        return HTTP_FIELDS_TOO_LARGE;
    fields->value[fields->value_length++] = (char)byte;
    return HTTP_FIELDS_MORE;
}

enum http_fields_step http_fields_feed(struct http_fields *fields, uint8_t byte)
{
    if (++fields->bytes > HTTP_HEADER_MAX)
        return HTTP_FIELDS_TOO_LARGE;
    switch (fields->state) {
    case FIELDS_LINE:
        return fields_start_line(fields, byte);
    case FIELDS_NAME:
        return fields_name(fields, byte);
    case FIELDS_SPACE:
    case FIELDS_VALUE:
        return fields_value(fields, byte);
    case FIELDS_LINE_END:
        fields->state = FIELDS_LINE;
        return byte == '\n' && fields_read_line(fields) ? HTTP_FIELDS_MORE : HTTP_FIELDS_MALFORMED;
    default:
        return byte == '\n' ? HTTP_FIELDS_DONE : HTTP_FIELDS_MALFORMED;
    }
}
