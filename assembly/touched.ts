// Touched kernels.
