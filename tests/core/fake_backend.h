/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_CORE_FAKE_BACKEND_H
#define TESTS_CORE_FAKE_BACKEND_H

#include "fake.h"

/* Fills h->be and h->bus. */
void fake_backend_init(struct fake_host *h);

#endif
