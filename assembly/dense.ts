// Dense kernels.
