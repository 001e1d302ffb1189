/* SPDX-License-Identifier: MIT
 *
 * The protocol between router and extension: frames on one connection.
 *
 * How it works. A frame is 8 bytes of header, little-endian (payload length 4, stream's channel 2, type 1, flags 1),
 * then the payload. The extension says HELLO once, with the number of channels as its channel. On each channel: OPEN
 * (extension), ACCEPTED (router), REQUEST (router, an HTTP request head), RESPONSE (extension, an HTTP response, in one
 * or more frames, the last with FRAME_END). Then the stream is over, and the channel is opened anew.
 */
#ifndef PILFER_EXPERIMENTS_WORKLOADS_FRAMES_H
#define PILFER_EXPERIMENTS_WORKLOADS_FRAMES_H

#include <stdint.h>

#define FRAME_HEADER_SIZE  8
#define FRAME_REQUEST_MAX  2304 /* bytes of a request: the longest target and 256 more */
#define FRAME_RESPONSE_MAX 4096 /* bytes of a whole response */
#define FRAME_CHANNELS_MAX 1024

enum frame_type { FRAME_HELLO = 1, FRAME_OPEN, FRAME_ACCEPTED, FRAME_REQUEST, FRAME_RESPONSE };

#define FRAME_END 1 /* flag of RESPONSE: the last frame of the stream */

struct frame {
    uint32_t length; /* of the payload */
    uint16_t channel;
    uint8_t type, flags;
};

static inline void frame_write(const struct frame *frame, uint8_t header[FRAME_HEADER_SIZE])
{
    for (int index = 0; index < 4; index++)
        header[index] = (uint8_t)(frame->length >> (8 * index));
    header[4] = (uint8_t)frame->channel;
    header[5] = (uint8_t)(frame->channel >> 8);
    header[6] = frame->type;
    header[7] = frame->flags;
}

static inline struct frame frame_read(const uint8_t header[FRAME_HEADER_SIZE])
{
    struct frame frame = {.channel = (uint16_t)(header[4] | header[5] << 8), .type = header[6], .flags = header[7]};
    for (int index = 0; index < 4; index++)
        frame.length |= (uint32_t)header[index] << (8 * index);
    return frame;
}

#endif
