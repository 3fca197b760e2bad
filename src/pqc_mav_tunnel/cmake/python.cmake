# SPDX-License-Identifier: Apache-2.0
# The extension module pqc_mav_tunnel._engine.
find_package(Python3 REQUIRED COMPONENTS Interpreter Development)
if(NOT pybind11_DIR)
  execute_process(COMMAND ${Python3_EXECUTABLE} -m pybind11 --cmakedir
    OUTPUT_VARIABLE pybind11_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(PYBIND11_FINDPYTHON ON)
set(Python_EXECUTABLE ${Python3_EXECUTABLE})
find_package(pybind11 REQUIRED)
# NO_EXTRAS: link-time optimization of the bindings takes as long as all of the engine's crypto, and saves nothing here.
pybind11_add_module(_engine NO_EXTRAS python/module.cpp python/bind_engine.cpp python/bind_handshake.cpp
  python/bind_codec.cpp)
target_link_libraries(_engine PRIVATE pqcmav_engine nlohmann_json::nlohmann_json)
# What runs often is in the engine; to optimise the bindings in full takes compilers twice as long.
target_compile_options(_engine PRIVATE -O1)
target_precompile_headers(_engine PRIVATE <pybind11/pybind11.h> <pybind11/stl.h>)
