"""Games that were really played (and one that shows off), as English SAN; facts that every database has."""

OPERA = """e4 e5 Nf3 d6 d4 Bg4 dxe5 Bxf3 Qxf3 dxe5 Bc4 Nf6 Qb3 Qe7 Nc3 c6 Bg5 b5 Nxb5 cxb5 Bxb5+ Nbd7
O-O-O Rd8 Rxd7 Rxd7 Rd1 Qe6 Bxd7+ Nxd7 Qb8+ Nxb8 Rd8#""".split()  # Morphy – Duke Karl and Count Isouard, Paris 1858

IMMORTAL = """e4 e5 f4 exf4 Bc4 Qh4+ Kf1 b5 Bxb5 Nf6 Nf3 Qh6 d3 Nh5 Nh4 Qg5 Nf5 c6 g4 Nf6 Rg1 cxb5 h4 Qg6 h5 Qg5 Qf3 Ng8
Bxf4 Qf6 Nc3 Bc5 Nd5 Qxb2 Bd6 Bxg1 e5 Qxa1+ Ke2 Na6 Nxg7+ Kd8 Qf6+ Nxf6 Be7#""".split()  # Anderssen – Kieseritzky, London 1851

TOPALOV = """e4 d6 d4 Nf6 Nc3 g6 Be3 Bg7 Qd2 c6 f3 b5 Nge2 Nbd7 Bh6 Bxh6 Qxh6 Bb7 a3 e5 O-O-O Qe7 Kb1 a6 Nc1 O-O-O
Nb3 exd4 Rxd4 c5 Rd1 Nb6 g3 Kb8 Na5 Ba8 Bh3 d5 Qf4+ Ka7 Rhe1 d4 Nd5 Nbxd5 exd5 Qd6 Rxd4 cxd4 Re7+ Kb6 Qxd4+ Kxa5
b4+ Ka4 Qc3 Qxd5 Ra7 Bb7 Rxb7 Qc4 Qxf6 Kxa3 Qxa6+ Kxb4 c3+ Kxc3 Qa1+ Kd2 Qb2+ Kd1 Bf1 Rd2 Rd7 Rxd7 Bxc4 bxc4
Qxh8 Rd3 Qa8 c3 Qa4+ Ke1 f4 f5 Kc1 Rd2 Qa7""".split()  # Kasparov – Topalov, Wijk aan Zee 1999: 44 moves, Black resigned

LEGAL = "e4 e5 Nf3 d6 Bc4 Bg4 Nc3 g6 Nxe5 Bxd1 Bxf7+ Ke7 Nd5#".split()  # Legal's mate

FOOL = "f3 e5 g4 Qh4#".split()

SHOW = """a4 h5 a5 b5 axb6 h4 b7 h3 bxa8=Q hxg2 Qxb8 gxh1=N Nc3 Nxf2 d3 Nxd1 Bg5 Nxc3 bxc3 a6 O-O-O""".split()
"""No game of anyone's: en passant, promotion to queen and knight, castling late."""

ALL = {"opera": OPERA, "immortal": IMMORTAL, "topalov": TOPALOV, "legal": LEGAL, "fool": FOOL, "show": SHOW}
