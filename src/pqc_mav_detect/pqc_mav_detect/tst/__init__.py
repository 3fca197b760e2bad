# SPDX-License-Identifier: Apache-2.0
"""A transformer over the last 400 windows: trained with PyTorch, used with ONNX Runtime."""
