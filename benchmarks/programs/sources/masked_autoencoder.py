"""A masked autoencoder for images: random masking by sorting noise, loss on the hidden patches."""

from __future__ import annotations

import argparse

import torch
from torch import Tensor, nn


def patchify(images: Tensor, p: int) -> Tensor:
    B, C, H, W = images.shape
    x = images.reshape(B, C, H // p, p, W // p, p)
    return x.permute(0, 2, 4, 3, 5, 1).reshape(B, (H // p) * (W // p), p * p * C)


def transformer(dim: int, heads: int, depth: int) -> nn.TransformerEncoder:
    layer = nn.TransformerEncoderLayer(
        dim, heads, 2 * dim, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
    )
    return nn.TransformerEncoder(layer, depth, norm=nn.LayerNorm(dim), enable_nested_tensor=False)


class MaskedAutoencoder(nn.Module):
    def __init__(
        self, image: int, patch: int, channels: int = 1, dim: int = 16, decoder_dim: int = 16
    ) -> None:
        super().__init__()
        self.patch = patch
        patches, pixels = (image // patch) ** 2, patch * patch * channels
        self.embed = nn.Linear(pixels, dim)
        self.pos_embed = nn.Parameter(torch.zeros(1, patches, dim))
        self.encoder = transformer(dim, 2, 1)
        self.decoder_embed = nn.Linear(dim, decoder_dim)
        self.mask_token = nn.Parameter(torch.zeros(1, 1, decoder_dim))
        self.decoder_pos_embed = nn.Parameter(torch.zeros(1, patches, decoder_dim))
        self.decoder = transformer(decoder_dim, 2, 1)
        self.predict = nn.Linear(decoder_dim, pixels)
        for parameter in (self.pos_embed, self.mask_token, self.decoder_pos_embed):
            nn.init.normal_(parameter, std=0.02)

    def random_masking(self, x: Tensor, mask_ratio: float) -> tuple[Tensor, Tensor, Tensor]:
        N, L, D = x.shape
        len_keep = int(L * (1 - mask_ratio))
        noise = torch.rand(N, L, device=x.device)
        ids_shuffle = torch.argsort(noise, dim=1)
        ids_restore = torch.argsort(ids_shuffle, dim=1)
        ids_keep = ids_shuffle[:, :len_keep]
        x_masked = torch.gather(x, dim=1, index=ids_keep.unsqueeze(-1).repeat(1, 1, D))
        mask = torch.ones([N, L], device=x.device)
        mask[:, :len_keep] = 0
        return x_masked, torch.gather(mask, dim=1, index=ids_restore), ids_restore

    def forward(self, images: Tensor, mask_ratio: float) -> Tensor:
        target = patchify(images, self.patch)
        x = self.embed(target) + self.pos_embed
        x, mask, ids_restore = self.random_masking(x, mask_ratio)
        x = self.decoder_embed(self.encoder(x))
        missing = self.mask_token.repeat(x.shape[0], ids_restore.shape[1] - x.shape[1], 1)
        x = torch.cat([x, missing], dim=1)
        x = torch.gather(x, dim=1, index=ids_restore.unsqueeze(-1).repeat(1, 1, x.shape[2]))
        prediction = self.predict(self.decoder(x + self.decoder_pos_embed))

        mean = target.mean(dim=-1, keepdim=True)
        var = target.var(dim=-1, keepdim=True)
        target = (target - mean) / (var + 1.0e-6) ** 0.5
        loss = ((prediction - target) ** 2).mean(dim=-1)
        return (loss * mask).sum() / mask.sum()


def gradients(count: int, size: int) -> Tensor:
    """Images with a linear gradient in a random direction."""
    generator = torch.Generator().manual_seed(0)
    angle = 6.28 * torch.rand(count, 1, 1, generator=generator)
    y, x = torch.meshgrid(torch.linspace(-1, 1, size), torch.linspace(-1, 1, size), indexing="ij")
    return (angle.cos() * x + angle.sin() * y).unsqueeze(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--mask-ratio", type=float, default=0.75)
    parser.add_argument("--lr", type=float, default=3e-3)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    images = gradients(32, 16).to(device)
    model = MaskedAutoencoder(image=16, patch=4).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.95), weight_decay=0.05)

    for epoch in range(args.epochs):
        losses = []
        for batch in images.split(args.batch_size):
            loss = model(batch, args.mask_ratio)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        print(f"epoch {epoch}: loss {torch.stack(losses).mean().item():.4f}")


if __name__ == "__main__":
    main()
