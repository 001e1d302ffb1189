/* SPDX-License-Identifier: MIT
 *
 * Header sections: what requests and responses have in common. Used by the two parsers only.
 */
#ifndef PILFER_EXPERIMENTS_WORKLOADS_HTTP_FIELDS_H
#define PILFER_EXPERIMENTS_WORKLOADS_HTTP_FIELDS_H

#include "workloads/http.h"

/* Fields that matter here; the others are checked for their form only. */
enum http_field {
    HTTP_FIELD_OTHER,
    HTTP_FIELD_CONNECTION,
    HTTP_FIELD_CONTENT_LENGTH,
    HTTP_FIELD_EXPECT,
    HTTP_FIELD_HOST,
    HTTP_FIELD_TRANSFER_ENCODING,
    HTTP_FIELD_UPGRADE,
};

/* A member of tchar, RFC 9110 5.6.2. */
bool http_is_token(uint8_t byte);

void http_fields_begin(struct http_fields *fields);

static inline bool http_fields_has(const struct http_fields *fields, enum http_field field)
{
    return (fields->seen >> field & 1) != 0;
}

enum http_fields_step { HTTP_FIELDS_MORE, HTTP_FIELDS_DONE, HTTP_FIELDS_MALFORMED, HTTP_FIELDS_TOO_LARGE };

/* Takes the next byte of the section; DONE with the LF of the empty line. */
enum http_fields_step http_fields_feed(struct http_fields *fields, uint8_t byte);

#endif
