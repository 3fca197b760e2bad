// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "convert.hpp"

namespace pqcmav::python {

void bind_parties(py::module_& module);
void bind_codec(py::module_& module);

}  // namespace pqcmav::python
