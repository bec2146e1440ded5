"""Which links of a robot hit each other on a random walk: `python examples/robot_self_collision.py [robot] [--small]`.

Every joint wanders within its limits. For each pair of links one question answers all poses: where the second link is,
seen from the first, is one transform per pose, so neither mesh is ever moved and both trees are built once. Links that
a joint connects always touch, and the description (SRDF) may list more pairs that are allowed to meet; all other pairs
that do are told of.

A robot is a URDF file, or a folder with `urdf/*.urdf` and the meshes that it names; `--srdf` adds the allowed pairs.
Without one, a small arm of boxes and cylinders moves, whose description is below.
"""

from __future__ import annotations

import argparse
import time
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

import boxwood as bw

ARM = """
<robot name="arm">
  <link name="base"><collision><geometry><box size="0.6 0.6 0.1"/></geometry></collision></link>
  <link name="column"><collision><origin xyz="0 0 0.2"/>
    <geometry><cylinder radius="0.09" length="0.4"/></geometry></collision></link>
  <link name="upper"><collision><origin xyz="0 0.11 0.2"/>
    <geometry><box size="0.12 0.1 0.5"/></geometry></collision></link>
  <link name="fore"><collision><origin xyz="0 0 0.2"/>
    <geometry><box size="0.1 0.1 0.48"/></geometry></collision></link>
  <link name="wrist"><collision><origin xyz="0 0 0.06"/>
    <geometry><cylinder radius="0.045" length="0.14"/></geometry></collision></link>
  <link name="hand"><collision><origin xyz="0 0 0.03"/>
    <geometry><box size="0.2 0.06 0.06"/></geometry></collision></link>
  <link name="left"><collision><origin xyz="0 0 0.05"/>
    <geometry><box size="0.02 0.04 0.1"/></geometry></collision></link>
  <link name="right"><collision><origin xyz="0 0 0.05"/>
    <geometry><box size="0.02 0.04 0.1"/></geometry></collision></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="column"/>
    <origin xyz="0 0 0.05"/><axis xyz="0 0 1"/><limit lower="-2.9" upper="2.9"/></joint>
  <joint name="shoulder" type="revolute"><parent link="column"/><child link="upper"/>
    <origin xyz="0 0 0.35"/><axis xyz="0 1 0"/><limit lower="-2.2" upper="2.2"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/>
    <origin xyz="0 0.0 0.4"/><axis xyz="0 1 0"/><limit lower="-2.8" upper="2.8"/></joint>
  <joint name="bend" type="revolute"><parent link="fore"/><child link="wrist"/>
    <origin xyz="0 0 0.44"/><axis xyz="0 1 0"/><limit lower="-2" upper="2"/></joint>
  <joint name="roll" type="revolute"><parent link="wrist"/><child link="hand"/>
    <origin xyz="0 0 0.13"/><axis xyz="0 0 1"/><limit lower="-2.9" upper="2.9"/></joint>
  <joint name="grip" type="prismatic"><parent link="hand"/><child link="left"/>
    <origin xyz="0.01 0 0.06"/><axis xyz="1 0 0"/><limit lower="0" upper="0.08"/></joint>
  <joint name="grip too" type="prismatic"><parent link="hand"/><child link="right"/>
    <origin xyz="-0.01 0 0.06"/><axis xyz="-1 0 0"/><mimic joint="grip"/></joint>
  <disable_collisions link1="left" link2="right" reason="fingers close upon each other"/>
  <disable_collisions link1="wrist" link2="left" reason="never"/>
  <disable_collisions link1="wrist" link2="right" reason="never"/>
</robot>
"""
STEP = 0.05  # of a joint's range, from pose to pose


def numbers(element: ElementTree.Element | None, name: str, default: str = "0 0 0") -> np.ndarray:
    return np.array((element.get(name, default) if element is not None else default).split(), float)


def turned(axis: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """(n, 4, 4): rotations around a unit axis (Rodrigues)."""
    x, y, z = axis
    across = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    matrices = np.tile(np.eye(4), (len(angles), 1, 1))
    sine, cosine = np.sin(angles)[:, None, None], np.cos(angles)[:, None, None]
    matrices[:, :3, :3] += sine * across + (1 - cosine) * (across @ across)
    return matrices


def moved(offsets: np.ndarray) -> np.ndarray:
    """(n, 4, 4) for offsets (n, 3)."""
    matrices = np.tile(np.eye(4), (len(offsets), 1, 1))
    matrices[:, :3, 3] = offsets
    return matrices


def origin_of(element: ElementTree.Element) -> np.ndarray:
    """(4, 4): roll, pitch and yaw around the fixed axes x, y, z, then the offset."""
    origin = element.find("origin")
    angles = numbers(origin, "rpy")
    roll, pitch, yaw = (turned(axis, angle[None])[0] for axis, angle in zip(np.eye(3), angles, strict=True))
    return moved(numbers(origin, "xyz")[None])[0] @ yaw @ pitch @ roll


def box(size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    vertices = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * size
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return vertices, np.array([(a, *rest) for a, b, c, d in quads for rest in ((b, c), (c, d))])


def cylinder(radius: float, length: float, sides: int = 32) -> tuple[np.ndarray, np.ndarray]:
    angles = np.arange(sides) * 2 * np.pi / sides
    ring = np.stack([radius * np.cos(angles), radius * np.sin(angles), np.full(sides, length / 2)], axis=1)
    vertices = np.concatenate([ring * [1, 1, -1], ring, [[0, 0, -length / 2], [0, 0, length / 2]]])
    a, b = np.arange(sides), (np.arange(sides) + 1) % sides
    low, high = np.full(sides, 2 * sides), np.full(sides, 2 * sides + 1)
    faces = [(a, b, sides + b), (a, sides + b, sides + a), (low, b, a), (high, sides + a, sides + b)]
    return vertices, np.concatenate([np.stack(corners, axis=1) for corners in faces])


def shape_of(geometry: ElementTree.Element, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of a box, a cylinder or a mesh file."""
    if (shape := geometry.find("box")) is not None:
        return box(numbers(shape, "size"))
    if (shape := geometry.find("cylinder")) is not None:
        return cylinder(float(shape.get("radius", 0)), float(shape.get("length", 0)))
    if (shape := geometry.find("mesh")) is None:
        raise ValueError(f"no box, cylinder or mesh in {ElementTree.tostring(geometry, encoding='unicode').strip()}")
    name = shape.get("filename", "").removeprefix("file://").removeprefix("package://")
    steps = Path(name).parts  # the first of which is the package, or more of the way to it
    for path in (above.joinpath(*steps[i:]) for above in (folder, *folder.parents[:3]) for i in range(len(steps))):
        if path.is_file():
            mesh = bw.load(path)
            return mesh.vertices * numbers(shape, "scale", "1 1 1"), mesh.faces
    raise FileNotFoundError(f"{name} is not below {folder}")


def links_of(robot: ElementTree.Element, folder: Path) -> dict[str, bw.Mesh]:
    """A mesh for each link that has a shape to collide with, in the link's frame."""
    links = {}
    for link in robot.iterfind("link"):
        shapes = []
        for collision in link.iterfind("collision"):
            vertices, faces = shape_of(collision.find("geometry"), folder)
            place = origin_of(collision)
            shapes.append((vertices @ place[:3, :3].T + place[:3, 3], faces))
        if shapes:
            starts = np.cumsum([0, *(len(vertices) for vertices, _ in shapes)])
            faces = np.concatenate([faces + start for (_, faces), start in zip(shapes, starts[:-1], strict=True)])
            links[link.get("name")] = bw.Mesh(np.concatenate([vertices for vertices, _ in shapes]), faces).build()
    return links


def random_walk(robot: ElementTree.Element, poses: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The value of each joint in each pose, from the middle on; at a limit the walk turns back."""
    values = {}
    for joint in robot.iterfind("joint"):
        limit = joint.find("limit")
        if joint.get("type") in ("revolute", "prismatic", "continuous") and joint.find("mimic") is None:
            bounded = limit is not None and joint.get("type") != "continuous"
            lower, upper = (float(limit.get(end, 0)) for end in ("lower", "upper")) if bounded else (-np.pi, np.pi)
            way = np.cumsum(rng.normal(0, STEP, poses)) + 0.5
            values[joint.get("name")] = lower + (upper - lower) * (1 - np.abs(1 - way % 2))
    for joint in robot.iterfind("joint"):
        if (mimic := joint.find("mimic")) is not None:
            factor, offset = float(mimic.get("multiplier", 1)), float(mimic.get("offset", 0))
            values[joint.get("name")] = factor * values[mimic.get("joint")] + offset
    return values


def placed(robot: ElementTree.Element, values: dict[str, np.ndarray], poses: int) -> dict[str, np.ndarray]:
    """Forward kinematics: for each link (poses, 4, 4), from its frame to that of the root."""
    joints = {joint.find("child").get("link"): joint for joint in robot.iterfind("joint")}
    places: dict[str, np.ndarray] = {}

    def place(link: str) -> np.ndarray:
        if link in places:
            return places[link]
        if link not in joints:
            places[link] = np.tile(np.eye(4), (poses, 1, 1))
            return places[link]
        joint = joints[link]
        matrices = place(joint.find("parent").get("link")) @ origin_of(joint)
        value = values.get(joint.get("name"))
        if value is not None:
            axis = numbers(joint.find("axis"), "xyz", "1 0 0")
            axis /= np.linalg.norm(axis)
            slides = joint.get("type") == "prismatic"
            matrices = matrices @ (moved(value[:, None] * axis) if slides else turned(axis, value))
        places[link] = matrices
        return matrices

    for link in robot.iterfind("link"):
        place(link.get("name"))
    return places


def allowed_pairs(robot: ElementTree.Element, listed: ElementTree.Element, links: dict[str, bw.Mesh]) -> set[frozenset]:
    """Listed ones, and those that a joint connects, where links without a shape count as part of the joint."""
    parents = {joint.find("child").get("link"): joint.find("parent").get("link") for joint in robot.iterfind("joint")}
    pairs = {frozenset((each.get("link1"), each.get("link2"))) for each in listed.iter("disable_collisions")}
    for link in links:
        parent = parents.get(link)
        while parent is not None and parent not in links:
            parent = parents.get(parent)
        pairs.add(frozenset((link, parent)))
    return pairs


def seen_from(places: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Where rigid frames are in the frames `places`: the inverses of these times the others."""
    back = np.tile(np.eye(4), (len(places), 1, 1))
    back[:, :3, :3] = places[:, :3, :3].transpose(0, 2, 1)
    back[:, :3, 3] = -np.einsum("nij,nj->ni", back[:, :3, :3], places[:, :3, 3])
    return back @ others


def main() -> None:
    parser = argparse.ArgumentParser(description="Which links of a robot hit each other on a random walk.")
    parser.add_argument("robot", nargs="?", type=Path, help="a URDF file, or its folder; without it, a small arm")
    parser.add_argument("--srdf", type=Path, help="a file that lists pairs which are allowed to meet")
    parser.add_argument("--poses", type=int, default=20_000)
    parser.add_argument("--small", action="store_true", help="a few poses")
    options = parser.parse_args()
    poses = 200 if options.small else options.poses
    robot, folder = ElementTree.fromstring(ARM), Path()
    if options.robot:
        file = next(options.robot.glob("**/*.urdf")) if options.robot.is_dir() else options.robot
        robot, folder = ElementTree.parse(file).getroot(), file.resolve().parent
    listed = ElementTree.parse(options.srdf).getroot() if options.srdf else robot

    links = links_of(robot, folder)
    allowed = allowed_pairs(robot, listed, links)
    asked = [pair for pair in combinations(links, 2) if frozenset(pair) not in allowed]
    faces = sum(len(mesh) for mesh in links.values())
    print(f"{robot.get('name')}: {len(links)} links of {faces:,} triangles, {len(asked)} pairs that must not meet")

    places = placed(robot, random_walk(robot, poses, np.random.default_rng(4)), poses)
    relative = {(one, other): seen_from(places[one], places[other]) for one, other in asked}
    if asked:
        one, other = asked[0]
        links[one].intersects(links[other], relative[asked[0]][:2])  # compiled before it is timed
    start = time.perf_counter()
    met = {(one, other): links[one].intersects(links[other], relative[one, other]) for one, other in asked}
    seconds = time.perf_counter() - start

    wrong = np.any([np.zeros(poses, bool), *met.values()], axis=0)
    pairs = poses * len(asked)
    print(f"{poses:,} poses in {seconds:.2f} s: {poses / seconds:,.0f} poses/s, {pairs / seconds:,.0f} pairs/s")
    print(f"{np.count_nonzero(wrong):,} poses ({wrong.mean():.1%}) have links that meet and must not:")
    for (one, other), hits in sorted(met.items(), key=lambda item: -np.count_nonzero(item[1])):
        if hits.any():
            print(f"  {one} and {other}: in {np.count_nonzero(hits):,} poses, first in pose {np.argmax(hits):,}")


if __name__ == "__main__":
    main()
