"""Tiny, randomly initialised models of transformers, and inputs guessed from their signatures."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
import transformers
from transformers import CONFIG_MAPPING, PretrainedConfig
from transformers.models.auto import modeling_auto as auto

BATCH, LENGTH, TOKENS = 2, 16, 8
_SIZES = {
    99: "vocab_size",
    128: "max_position_embeddings n_positions n_ctx max_seq_len",
    64: "intermediate_size ffn_dim encoder_ffn_dim decoder_ffn_dim d_ff n_inner d_inner mlp_dim hidden_dim "
    "ffn_hidden_size",
    32: "hidden_size d_model n_embd embed_dim dim embedding_size word_embed_proj_dim encoder_embed_dim "
    "moe_intermediate_size shared_expert_intermediate_size image_size projection_dim",
    16: "encoder_seq_length q_lora_rank",
    8: "head_dim d_kv attention_head_dim patch_size kv_lora_rank qk_rope_head_dim v_head_dim "
    "qk_nope_head_dim state_size",
    4: "num_attention_heads n_head n_heads num_heads encoder_attention_heads decoder_attention_heads "
    "num_experts num_local_experts n_routed_experts",
    3: "conv_kernel",
    2: "num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers num_encoder_layers "
    "num_decoder_layers decoder_num_layers encoder_num_layers num_key_value_heads num_experts_per_tok "
    "type_vocab_size eos_token_id decoder_start_token_id",
    1: "n_group topk_group bos_token_id",
    0: "pad_token_id",
}
_SMALL = {name: size for size, names in _SIZES.items() for name in names.split()}
_DROPOUT = (
    "resid_pdrop embd_pdrop attn_pdrop hidden_dropout_prob attention_probs_dropout_prob dropout "
    "attention_dropout"
)
_HEADS = (
    auto.MODEL_FOR_CAUSAL_LM_MAPPING, auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING,
    auto.MODEL_FOR_MASKED_LM_MAPPING,
    auto.MODEL_FOR_OBJECT_DETECTION_MAPPING, auto.MODEL_FOR_SEMANTIC_SEGMENTATION_MAPPING,
    auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING, auto.MODEL_FOR_CTC_MAPPING,
    auto.MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING, auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    auto.MODEL_MAPPING,
)  # fmt: skip


def tiny(model_type: str) -> torch.nn.Module:
    """Return a model of this type; raises what its constructor raises."""
    config = _shrunk(CONFIG_MAPPING[model_type]())
    failure: Exception = LookupError(f"no model takes a configuration of {model_type}")
    for mapping in _HEADS:
        if type(config) in mapping:
            found = mapping[type(config)]
            try:
                return (found[0] if isinstance(found, tuple) else found)(config)
            except Exception as error:
                failure = error
    raise failure


def _shrunk(config: PretrainedConfig, depth: int = 0) -> PretrainedConfig:
    for name, value in list(vars(config).items()):
        if name in _SMALL and type(value) is int:
            _set(config, name, _SMALL[name])
        elif isinstance(value, PretrainedConfig) and depth < 3:
            _shrunk(value, depth + 1)
        elif name in ("layer_types", "mlp_layer_types") and isinstance(value, list):
            _set(config, name, value[:2])
        elif name in ("use_pretrained_backbone", "use_timm_backbone"):
            _set(config, name, False)
        elif name in _DROPOUT.split() and isinstance(value, float):
            _set(config, name, 0.0)
    return config


def _set(config: PretrainedConfig, name: str, value: Any) -> None:
    try:
        setattr(config, name, value)
    except (ValueError, AttributeError, NotImplementedError):
        return  # some derive it from other fields


def batch(model: torch.nn.Module, device: torch.device) -> dict[str, Any]:
    """Return fresh inputs of fixed shapes for `model`, with labels where it takes them."""
    config: Any = model.config
    names = inspect.signature(model.forward).parameters
    text = getattr(config, "text_config", None) or config
    vision = getattr(config, "vision_config", None) or config
    found = _tokens(names, min(getattr(text, "vocab_size", None) or 99, 99))
    alone = "input_ids" not in names
    kind = type(model).__name__
    if "pixel_values" in names and (alone or kind.startswith(("CLIP", "Siglip", "Blip"))):
        size = getattr(vision, "image_size", 64)
        height, width = size if isinstance(size, tuple | list) else (size, size)
        channels = getattr(vision, "num_channels", 3) or 3
        found["pixel_values"] = torch.randn(BATCH, channels, max(height, 32), max(width, 32))
    if "input_values" in names and alone:
        found["input_values"] = torch.randn(BATCH, 4000)
    if "input_features" in names and alone:
        length = 2 * getattr(config, "max_source_positions", 100)
        found["input_features"] = torch.randn(BATCH, getattr(config, "num_mel_bins", 80), length)
        if "decoder_input_ids" in names:
            found["decoder_input_ids"] = torch.randint(3, 99, (BATCH, LENGTH))
    if "labels" in names and (labels := _labels(kind, found)) is not None:
        found["labels"] = labels
    return {name: _on(value, device) for name, value in found.items()}


def _tokens(names: Any, vocabulary: int) -> dict[str, torch.Tensor]:
    if "input_ids" not in names:
        return {}
    ids: Callable[[], torch.Tensor] = lambda: torch.randint(3, max(4, vocabulary), (BATCH, LENGTH))  # noqa: E731
    found = {"input_ids": ids()}
    if "attention_mask" in names:
        found["attention_mask"] = torch.ones(BATCH, LENGTH, dtype=torch.long)
        found["attention_mask"][1, 12:] = 0
    if "decoder_input_ids" in names:
        found["decoder_input_ids"] = ids()
    return found


def _labels(kind: str, inputs: dict[str, Any]) -> Any:
    if "input_ids" in inputs and any(
        part in kind for part in ("CausalLM", "LMHead", "ConditionalGeneration", "MaskedLM", "PreTraining")
    ):
        return torch.randint(3, 99, (BATCH, LENGTH))
    if "ImageClassification" in kind or "SequenceClassification" in kind:
        return torch.randint(0, 2, (BATCH,))
    if "ForCTC" in kind:
        return torch.randint(3, 20, (BATCH, 4))
    if "Segmentation" in kind:
        return torch.randint(0, 2, (BATCH, *inputs["pixel_values"].shape[-2:]))
    if "ObjectDetection" in kind:
        return [_objects(3), _objects(2)]
    return None


def _objects(count: int) -> dict[str, torch.Tensor]:
    boxes = torch.rand(count, 4) * 0.5 + 0.25
    return {"class_labels": torch.randint(0, 5, (count,)), "boxes": boxes}


def _on(value: Any, device: torch.device) -> Any:
    if isinstance(value, list):
        return [{name: tensor.to(device) for name, tensor in item.items()} for item in value]
    return value.to(device)


def generate(model: Any, device: torch.device) -> Any:
    """Generate 8 tokens greedily; a step ends after each."""
    inputs = batch(model, device)
    prompt = {name: inputs[name][:, :8] for name in ("input_ids", "attention_mask") if name in inputs}
    return model.generate(
        **prompt, max_new_tokens=TOKENS, min_new_tokens=TOKENS, do_sample=False, logits_processor=[_EndStep()]
    )


class _EndStep(transformers.LogitsProcessor):
    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        if input_ids.is_xla:
            import torch_xla

            torch_xla.sync()
        return scores
