//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// oneDNN's norms and softmax for Python: a primitive, its arrays by number, and
// a stream. Arrays are the library's own, as not every build of it takes
// others.
//
//===----------------------------------------------------------------------===//

#include <cstring>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <unordered_map>

using namespace dnnl;

namespace {

constexpr float epsilon = 1.0e-5f;

struct Case {
  engine cpu{engine::kind::cpu, 0};
  stream queue{cpu};
  primitive kernel;
  std::unordered_map<int, memory> arrays;
  std::string implementation;

  void add(int argument, const memory::desc &desc) {
    arrays.emplace(argument, memory(desc, cpu));
  }
};

memory::desc dense(memory::dims dims, memory::data_type type) {
  memory::dims strides(dims.size(), 1);
  for (size_t i = dims.size() - 1; i > 0; --i)
    strides[i - 1] = strides[i] * dims[i];
  return memory::desc(dims, type, strides);
}

void makeSoftmax(Case &made, const memory::desc &x, bool grad) {
  const softmax_forward::primitive_desc forward(
      made.cpu,
      grad ? prop_kind::forward_training : prop_kind::forward_inference,
      algorithm::softmax_accurate, x, x, /*axis=*/1);
  if (!grad) {
    made.kernel = softmax_forward(forward);
    made.add(DNNL_ARG_SRC, x);
    made.add(DNNL_ARG_DST, x);
    return;
  }
  made.kernel = softmax_backward(softmax_backward::primitive_desc(
      made.cpu, algorithm::softmax_accurate, x, x, x, /*axis=*/1, forward));
  for (int argument : {DNNL_ARG_DST, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_SRC})
    made.add(argument, x);
}

void makeNorm(Case &made, const memory::desc &x, memory::data_type weights,
              bool isRms, bool grad) {
  normalization_flags flags = normalization_flags::use_scale;
  flags |=
      isRms ? normalization_flags::rms_norm : normalization_flags::use_shift;
  const memory::dims dims = x.get_dims();
  const memory::desc stat = dense({dims[0]}, memory::data_type::f32);
  const memory::desc weight = dense({dims[1]}, weights);
  const layer_normalization_forward::primitive_desc forward(
      made.cpu, prop_kind::forward_training, x, x, stat, weights, epsilon,
      flags);
  made.add(DNNL_ARG_SRC, x);
  made.add(DNNL_ARG_SCALE, weight);
  made.add(DNNL_ARG_VARIANCE, stat);
  if (!isRms)
    made.add(DNNL_ARG_MEAN, stat);
  if (!grad) {
    made.kernel = layer_normalization_forward(forward);
    made.add(DNNL_ARG_DST, x);
    if (!isRms)
      made.add(DNNL_ARG_SHIFT, weight);
    return;
  }
  made.kernel =
      layer_normalization_backward(layer_normalization_backward::primitive_desc(
          made.cpu, prop_kind::backward, x, x, x, stat, weights, weights,
          epsilon, flags, forward));
  made.add(DNNL_ARG_DIFF_DST, x);
  made.add(DNNL_ARG_DIFF_SRC, x);
  made.add(DNNL_ARG_DIFF_SCALE, weight);
  if (!isRms)
    made.add(DNNL_ARG_DIFF_SHIFT, weight);
}

std::string implementationOf(const primitive &kernel) {
  const char *name = nullptr;
  dnnl_primitive_desc_query(kernel.get_primitive_desc(),
                            dnnl_query_impl_info_str, 0, &name);
  return name ? name : "";
}

memory::data_type typeOf(const std::string &name) {
  return name == "bf16"  ? memory::data_type::bf16
         : name == "f16" ? memory::data_type::f16
                         : memory::data_type::f32;
}

} // namespace

extern "C" {

// kernel is named as in pol. Returns null, and says why in `why`.
Case *onednn_make(const char *kernel, int64_t rows, int64_t length,
                  const char *dtype, const char *weights, char *why,
                  int64_t whySize) {
  try {
    auto made = std::make_unique<Case>();
    const memory::desc x = dense({rows, length}, typeOf(dtype));
    std::string name = kernel;
    const bool grad =
        name.size() > 5 && name.substr(name.size() - 5) == "_grad";
    if (name.rfind("softmax", 0) == 0)
      makeSoftmax(*made, x, grad);
    else
      makeNorm(*made, x, typeOf(weights), name.rfind("rms_norm", 0) == 0, grad);
    made->implementation = implementationOf(made->kernel);
    return made.release();
  } catch (const std::exception &error) {
    std::strncpy(why, error.what(), whySize - 1);
    why[whySize - 1] = 0;
    return nullptr;
  }
}

// Which of its implementations the library has taken.
const char *onednn_implementation(Case *made) {
  return made->implementation.c_str();
}

void *onednn_array(Case *made, int argument) {
  return made->arrays.at(argument).get_data_handle();
}

int onednn_run(Case *made) {
  try {
    made->kernel.execute(made->queue, made->arrays);
    made->queue.wait();
    return 0;
  } catch (const std::exception &) {
    return 1;
  }
}

void onednn_free(Case *made) { delete made; }
}
