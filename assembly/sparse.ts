// Sparse kernels.
