"""The strategies a rule page can name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xlamig.fix.context import Strategy
from xlamig.fix.strategies.accelerator import accelerator
from xlamig.fix.strategies.accumulate import accumulate
from xlamig.fix.strategies.add_argument import add_argument
from xlamig.fix.strategies.add_choice import add_choice
from xlamig.fix.strategies.adopt_device import adopt_device
from xlamig.fix.strategies.all_rows import all_rows
from xlamig.fix.strategies.arguments import drop_argument, replace_argument
from xlamig.fix.strategies.checkpointing import rename_where_passed
from xlamig.fix.strategies.choose_on_device import choose_on_device
from xlamig.fix.strategies.copies import copy_from_device, copy_to_host
from xlamig.fix.strategies.cuda_method import cuda_method
from xlamig.fix.strategies.default_device import default_device
from xlamig.fix.strategies.dense_experts import dense_experts
from xlamig.fix.strategies.device_argument import device_argument
from xlamig.fix.strategies.device_field import device_field
from xlamig.fix.strategies.device_flag import device_flag
from xlamig.fix.strategies.device_literal import device_literal
from xlamig.fix.strategies.device_move import device_move
from xlamig.fix.strategies.device_of_rank import device_of_rank
from xlamig.fix.strategies.device_parameter import device_parameter
from xlamig.fix.strategies.device_selection import device_selection
from xlamig.fix.strategies.device_setting import device_setting
from xlamig.fix.strategies.display import display
from xlamig.fix.strategies.flag_first import flag_first
from xlamig.fix.strategies.fresh_tensor import fresh_tensor
from xlamig.fix.strategies.hard_mean import hard_mean
from xlamig.fix.strategies.in_place import device_of_tensor
from xlamig.fix.strategies.index_select import index_select
from xlamig.fix.strategies.indexed_error import indexed_error
from xlamig.fix.strategies.later_read import read_after_boundary
from xlamig.fix.strategies.lazy_log import lazy_log
from xlamig.fix.strategies.masked_count import masked_count
from xlamig.fix.strategies.masked_error import masked_error
from xlamig.fix.strategies.masked_fill import masked_fill
from xlamig.fix.strategies.masked_loss import masked_loss
from xlamig.fix.strategies.masked_rows import masked_rows
from xlamig.fix.strategies.masked_sum import masked_sum
from xlamig.fix.strategies.module_moves import keep_parameters, move_first
from xlamig.fix.strategies.move_to_device import move_to_device
from xlamig.fix.strategies.on_xla_instead import on_xla_instead
from xlamig.fix.strategies.pad_to_multiple import pad_to_multiple
from xlamig.fix.strategies.padded_rnn import padded_rnn
from xlamig.fix.strategies.precision import rename_precision
from xlamig.fix.strategies.read_where_used import read_where_used
from xlamig.fix.strategies.rename import rename_api
from xlamig.fix.strategies.replace_part import replace_part
from xlamig.fix.strategies.rewrite_call import rewrite_call
from xlamig.fix.strategies.round_up_longest import round_up_longest
from xlamig.fix.strategies.run_on_host import run_on_host
from xlamig.fix.strategies.scalars import stack_scalars
from xlamig.fix.strategies.seed import seed_xla
from xlamig.fix.strategies.statements import drop_assignment, drop_statement, guard_statement
from xlamig.fix.strategies.step_boundary import boundary_above_read, step_boundary, xm_barrier
from xlamig.fix.strategies.suppression import remove_suppression
from xlamig.fix.strategies.tensor_exponent import tensor_exponent
from xlamig.fix.strategies.tensor_index import tensor_index
from xlamig.fix.strategies.tensor_type import tensor_type
from xlamig.fix.strategies.tested_move import tested_move
from xlamig.fix.strategies.use_helper import use_helper
from xlamig.fix.strategies.wrap_callee import wrap_callee
from xlamig.rulebook.strategies import check_registered

STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "accelerator": accelerator,
        "accumulate": accumulate,
        "add-argument": add_argument,
        "add-choice": add_choice,
        "adopt-device": adopt_device,
        "all-rows": all_rows,
        "boundary-above-read": boundary_above_read,
        "choose-on-device": choose_on_device,
        "copy-from-device": copy_from_device,
        "copy-to-host": copy_to_host,
        "cuda-method": cuda_method,
        "default-device": default_device,
        "dense-experts": dense_experts,
        "device-argument": device_argument,
        "device-field": device_field,
        "device-flag": device_flag,
        "device-literal": device_literal,
        "device-move": device_move,
        "device-of-rank": device_of_rank,
        "device-of-tensor": device_of_tensor,
        "device-parameter": device_parameter,
        "device-selection": device_selection,
        "device-setting": device_setting,
        "display": display,
        "drop-argument": drop_argument,
        "drop-assignment": drop_assignment,
        "drop-statement": drop_statement,
        "flag-first": flag_first,
        "fresh-tensor": fresh_tensor,
        "guard-statement": guard_statement,
        "hard-mean": hard_mean,
        "index-select": index_select,
        "keep-parameters": keep_parameters,
        "lazy-log": lazy_log,
        "masked-count": masked_count,
        "indexed-error": indexed_error,
        "masked-error": masked_error,
        "masked-fill": masked_fill,
        "masked-loss": masked_loss,
        "masked-rows": masked_rows,
        "masked-sum": masked_sum,
        "move-first": move_first,
        "move-to-device": move_to_device,
        "on-xla-instead": on_xla_instead,
        "pad-to-multiple": pad_to_multiple,
        "padded-rnn": padded_rnn,
        "read-after-boundary": read_after_boundary,
        "read-where-used": read_where_used,
        "remove-suppression": remove_suppression,
        "rename-api": rename_api,
        "rename-precision": rename_precision,
        "rename-where-passed": rename_where_passed,
        "replace-argument": replace_argument,
        "replace-part": replace_part,
        "rewrite-call": rewrite_call,
        "round-up-longest": round_up_longest,
        "run-on-host": run_on_host,
        "seed-xla": seed_xla,
        "stack-scalars": stack_scalars,
        "step-boundary": step_boundary,
        "tensor-exponent": tensor_exponent,
        "tensor-index": tensor_index,
        "tensor-type": tensor_type,
        "tested-move": tested_move,
        "use-helper": use_helper,
        "wrap-callee": wrap_callee,
        "xm-barrier": xm_barrier,
    }
)
check_registered(STRATEGIES)

__all__ = ["STRATEGIES"]
