# A2C + GAE, vectorised key-door gridworld, one file
import time, random, collections
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
from torch.distributions import Categorical

SEED, N, T, UPDATES = 7, 16, 8, 12
GAMMA, LAM, VF, ENT, LR, MAXG = .97, .95, .5, .01, 7e-4, .5
dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
random.seed(SEED); np.random.seed(SEED); torch.manual_seed(SEED)


class VecKeyDoor:
    """G x G grid; fetch the key, then walk to the door. obs: 4 planes (agent, key, door, has_key)"""
    MOVES = np.array([[0, 1], [0, -1], [1, 0], [-1, 0], [0, 0]])

    def __init__(s, n, g=6, horizon=40):
        s.n, s.g, s.h = n, g, horizon
        s.pos, s.key, s.door = (np.zeros((n, 2), int) for _ in range(3))
        s.has, s.t, s.ret = np.zeros(n, bool), np.zeros(n, int), np.zeros(n)

    def _reset(s, m):
        k = m.sum()
        if k == 0: return
        cells = np.stack([np.random.choice(s.g * s.g, 3, replace=False) for _ in range(k)])
        for a, c in zip((s.pos, s.key, s.door), cells.T): a[m] = np.stack([c // s.g, c % s.g], 1)
        s.has[m], s.t[m], s.ret[m] = False, 0, 0

    def obs(s):
        o, i = np.zeros((s.n, 4, s.g, s.g), np.float32), np.arange(s.n)
        o[i, 0, s.pos[:, 0], s.pos[:, 1]] = 1
        o[i, 1, s.key[:, 0], s.key[:, 1]] = ~s.has
        o[i, 2, s.door[:, 0], s.door[:, 1]] = 1
        o[s.has, 3] = 1
        return o

    def reset(s):
        s._reset(np.ones(s.n, bool)); return s.obs()

    def step(s, a):
        s.pos = np.clip(s.pos + s.MOVES[a], 0, s.g - 1); s.t += 1
        got = (s.pos == s.key).all(1) & ~s.has; s.has |= got
        win = (s.pos == s.door).all(1) & s.has
        r = -.02 + .3 * got + 1. * win; s.ret += r
        trunc = s.t >= s.h; done = win | trunc
        fin = s.ret[done].tolist(), win[done].tolist()
        s._reset(done)
        return s.obs(), r.astype(np.float32), done, fin


def init(m, g=2 ** .5):
    nn.init.orthogonal_(m.weight, g); nn.init.zeros_(m.bias); return m


class Net(nn.Module):
    def __init__(s, na=5, h=64):
        super().__init__()
        s.body = nn.Sequential(init(nn.Conv2d(4, 16, 3, padding=1)), nn.ReLU(), init(nn.Conv2d(16, 16, 3, padding=1)), nn.ReLU(),
                               nn.Flatten(), init(nn.Linear(16 * 36, h)), nn.ReLU())
        s.pi, s.v = init(nn.Linear(h, na), .01), init(nn.Linear(h, 1), 1.)

    def forward(s, x):
        h = s.body(x); return s.pi(h), s.v(h).squeeze(-1)

    def act(s, x):
        l, v = s(x); d = Categorical(logits=l); a = d.sample()
        return a, d.log_prob(a), v


env, net = VecKeyDoor(N), Net().to(dev)
opt = torch.optim.RMSprop(net.parameters(), lr=LR, alpha=.99, eps=1e-5)
O = torch.zeros(T, N, 4, 6, 6, device=dev)
A = torch.zeros(T, N, dtype=torch.long, device=dev)
R, D, V = (torch.zeros(T, N, device=dev) for _ in range(3))
rets, wins = collections.deque(maxlen=100), collections.deque(maxlen=100)
obs, t0 = torch.from_numpy(env.reset()).to(dev), time.time()

for u in range(1, UPDATES + 1):
    for gr in opt.param_groups: gr["lr"] = LR * (1 - (u - 1) / UPDATES)
    for t in range(T):
        O[t] = obs
        with torch.no_grad(): a, _, v = net.act(obs)
        A[t], V[t] = a, v
        o, r, d, (fr, fw) = env.step(a.cpu().numpy())
        R[t] = torch.as_tensor(r, device=dev); D[t] = torch.as_tensor(d, device=dev).float()
        obs = torch.from_numpy(o).to(dev)
        rets += fr; wins += fw
    with torch.no_grad():
        nv, adv, last = net(obs)[1], torch.zeros_like(R), 0
        for t in reversed(range(T)):
            nt = 1 - D[t]
            delta = R[t] + GAMMA * nv * nt - V[t]
            adv[t] = last = delta + GAMMA * LAM * nt * last
            nv = V[t]
        tgt = adv + V
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    logits, val = net(O.flatten(0, 1))
    dist = Categorical(logits=logits)
    pg = -(dist.log_prob(A.flatten()) * adv.flatten()).mean()
    vl = F.mse_loss(val, tgt.flatten())
    ent = dist.entropy().mean()
    loss = pg + VF * vl - ENT * ent
    opt.zero_grad(); loss.backward()
    gn = nn.utils.clip_grad_norm_(net.parameters(), MAXG); opt.step()
    if u % 2 == 0:
        ev = 1 - (tgt - V).var() / (tgt.var() + 1e-8)
        print(f"upd {u:3d} sps {u * N * T / (time.time() - t0):6.0f} ret {np.mean(rets) if rets else 0:+.3f} win {np.mean(wins) if wins else 0:.2f} "
              f"pg {pg:.4f} v {vl:.4f} H {ent:.3f} ev {ev:.2f} |g| {gn:.2f}")

# greedy evaluation
env, k = VecKeyDoor(N, horizon=12), 0
obs, score = env.reset(), np.zeros(N)
with torch.no_grad():
    for _ in range(12):
        a = net(torch.from_numpy(obs).to(dev))[0].argmax(-1)
        obs, r, d, _ = env.step(a.cpu().numpy()); score += r; k += d.sum()
print("eval mean reward", score.mean().round(3), "episodes", int(k))
