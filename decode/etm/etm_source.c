/* SPDX-License-Identifier: BSD-2-Clause */
/* A source's registers as OpenCSD wants them. */
#include <errno.h>
#include "etm_priv.h"

/*
 * An ETE is an ETMv4 of version 5 to it: as such OpenCSD 1.3 lists its packets, too.
 * What the decoder gets is committed already (etm_spec.c), and so it is told.
 */
int etm_create(dcd_tree_handle_t tree, const struct etm_source *s, int flags,
	       unsigned char *id)
{
	bool decodes = flags & OCSD_CREATE_FLG_FULL_DECODER;
	const ocsd_etmv4_cfg cfg = {
		.reg_idr0 = s->idr[0] | (decodes ? TRCIDR0_COMMOPT | TRCIDR0_TRCCCI : 0),
		.reg_idr1 = (s->idr[1] & ~TRCIDR1_VERSION_MASK) |
			    etm_version(s) << TRCIDR1_MINOR_SHIFT,
		.reg_idr2 = s->idr[2],
		.reg_idr8 = decodes ? 0 : s->idr[8],
		.reg_idr9 = s->idr[9],
		.reg_idr10 = s->idr[10],
		.reg_idr11 = s->idr[11],
		.reg_idr12 = s->idr[12],
		.reg_idr13 = s->idr[13],
		.reg_configr = s->configr,
		.reg_traceidr = s->traceidr,
		.arch_ver = ARCH_AA64,
		.core_prof = profile_CortexA,
	};
	ocsd_err_t err;

	err = ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, flags, &cfg, id);
	if (err == OCSD_ERR_MEM)
		return -ENOMEM;
	return err == OCSD_OK ? 0 : -EINVAL;
}

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define HAVE_LSAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(HAVE_LSAN)
/* OpenCSD frees no tree's callback object; 32 bytes a decoder. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	/* The stack ends in operator new: nothing else here is C++. */
	return "leak:ocsd_dt_set_gen_elem_outfn\nleak:libstdc++\n";
}
#endif
