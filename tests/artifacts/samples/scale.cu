#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

template <typename T, int N>
__global__ void __launch_bounds__(256) scale_kernel(const T* __restrict__ x, T* y, float s, int n) {
  __shared__ float tile[N];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * s;
}

#define LAUNCH(T) scale_kernel<T, 32><<<1, 256, 0, stream>>>(x.data_ptr<T>(), y.data_ptr<T>(), s, n)

at::Tensor scale(at::Tensor x, double s) {
  auto y = at::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "scale", [&] { LAUNCH(scalar_t); });
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scale", &scale, "scales"); }
TORCH_LIBRARY(mine, m) { m.def("scale(Tensor x, float s) -> Tensor"); }
