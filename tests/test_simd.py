"""Every vector operation against plain NumPy: compiled, or the twin that runs in its place."""

from __future__ import annotations

from fractions import Fraction

import numba
import numpy as np
import pytest

from boxwood._jit import BOUNDS_CHECKED, INTERPRETED
from boxwood._simd import (
    array_at,
    count_bits,
    equal,
    first_bit,
    fma,
    greater_equal,
    greatest_of,
    lanes_as,
    lanes_of,
    least_of,
    less,
    less_equal,
    load4,
    load8,
    load16,
    load_columns16,
    maximum,
    minimum,
    number_like,
    prefetch,
    product_error,
    shifted,
    smallest_like,
    splat4,
    splat8,
    splat16,
    spread8,
    spread16,
    store,
    store_int,
    vectors,
    where_greater,
)
from boxwood._simd import keys as simd_keys
from boxwood._simd import lanes as lanes_module
from boxwood._simd.keys import NO_KEY, key_bound, ordered, sorted_keys, splat_int8

pytestmark = pytest.mark.small

compiled = numba.njit(error_model="numpy")
LOADS = {4: load4, 8: load8, 16: load16}
SPLATS = {4: splat4, 8: splat8, 16: splat16}
SPREADS = {8: spread8, 16: spread16}
KINDS = [(dtype, lanes) for dtype in (np.float32, np.float64) for lanes in LOADS]


def numbers(dtype, count, seed=0):
    """Of all sizes, and every special one beside every other."""
    rng = np.random.default_rng(seed)
    limits = np.finfo(dtype)
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, limits.max, limits.tiny, limits.smallest_subnormal, 1 / 3]
    usual = rng.normal(size=count) * 10.0 ** rng.integers(-3, 4, count)
    return np.where(rng.random(count) < 0.5, rng.choice(special, count), usual).astype(dtype)


def bits_of(lanes):
    return sum(1 << i for i, lane in enumerate(lanes) if lane)


@pytest.mark.parametrize(("dtype", "lanes"), KINDS)
def test_arithmetic_and_comparisons(dtype, lanes):
    load, splat = LOADS[lanes], SPLATS[lanes]

    @compiled
    def operate(a, b, i, out, bits):
        x, y = load(a, i), load(b, i)
        store(out, 0, x + y)
        store(out, lanes, x - y)
        store(out, 2 * lanes, x * y)
        store(out, 3 * lanes, x / y)
        store(out, 4 * lanes, minimum(x, y))
        store(out, 5 * lanes, maximum(x, y))
        store(out, 6 * lanes, splat(a[i]))
        bits[0], bits[1] = less(x, y), less_equal(x, y)
        bits[2], bits[3] = greater_equal(x, y), equal(x, y)
        bits[4] = lanes_of(x)

    a, b = numbers(dtype, 40 * lanes, 1), numbers(dtype, 40 * lanes, 2)
    out, bits = np.empty(7 * lanes, dtype), np.empty(5, np.int64)
    for i in range(0, 39 * lanes, 3):  # at any alignment
        x, y = a[i : i + lanes], b[i : i + lanes]
        rows = out.reshape(7, lanes)
        with np.errstate(all="ignore"):
            operate(a, b, i, out, bits)
            wanted = [x + y, x - y, x * y, x / y, np.where(x < y, x, y), np.where(x > y, x, y), np.full(lanes, x[0])]
        for row, values in zip(rows, wanted, strict=True):
            np.testing.assert_array_equal(row, values)
            clear = ~np.isnan(values)
            np.testing.assert_array_equal(np.signbit(row[clear]), np.signbit(values[clear]))
        assert bits.tolist() == [bits_of(x < y), bits_of(x <= y), bits_of(x >= y), bits_of(x == y), lanes]


@pytest.mark.parametrize(("dtype", "lanes"), KINDS)
def test_fma_rounds_once_or_nearly(dtype, lanes):
    load = LOADS[lanes]

    @compiled
    def operate(a, b, c, out):
        store(out, 0, fma(load(a, 0), load(b, 0), load(c, 0)))

    rng = np.random.default_rng(3)
    for _ in range(20):
        a, b, c = rng.normal(size=(3, lanes)).astype(dtype)
        c[0], out = -a[0] * b[0], np.empty(lanes, dtype)
        operate(a, b, c, out)
        for x, y, z, got in zip(a, b, c, out, strict=True):
            exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
            if dtype == np.float32 or not INTERPRETED:
                assert got == dtype(float(exact))
            else:
                assert abs(got - float(exact)) <= 3e-16 * (abs(x * y) + abs(z))  # the twin rounds the product as well


@pytest.mark.parametrize("lanes", LOADS)
def test_changing_the_type_of_numbers(lanes):
    load = LOADS[lanes]

    @compiled
    def widen(narrow, out):
        store(out, 0, lanes_as(load(narrow, 0), out[0]))

    @compiled
    def narrow(wide, out):
        store(out, 0, lanes_as(load(wide, 0), out[0]))
        out[lanes] = number_like(out[0], wide[0])

    values = numbers(np.float32, lanes, 5)
    out = np.empty(lanes)
    widen(values, out)
    np.testing.assert_array_equal(out, values)
    same = np.empty(lanes, np.float32)
    widen(values, same)
    np.testing.assert_array_equal(same, values)
    wide = numbers(np.float64, lanes, 6)
    rounded = np.empty(lanes + 1, np.float32)
    with np.errstate(all="ignore"):
        narrow(wide, rounded)
        np.testing.assert_array_equal(rounded[:lanes], wide.astype(np.float32))
        np.testing.assert_array_equal(rounded[lanes], np.float32(wide[0]))
    kept = np.empty(lanes + 1)
    narrow(wide, kept)
    np.testing.assert_array_equal(kept[:lanes], wide)
    np.testing.assert_array_equal(kept[lanes], wide[0])


@pytest.mark.parametrize("lanes", SPREADS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_place_in_all_lanes(dtype, lanes):
    spread = SPREADS[lanes]

    @compiled
    def fill(values, i, out):
        store(out, 0, spread(values, i))

    values, out = numbers(dtype, 30), np.empty(lanes, dtype)
    for i in range(len(values)):
        fill(values, i, out)
        np.testing.assert_array_equal(out, np.full(lanes, values[i]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_of_sixteen_rows(dtype):
    @compiled
    def load(table, row, out):
        x, y, z = load_columns16(table, row)
        store(out, 0, x)
        store(out, 16, y)
        store(out, 32, z)

    table, out = numbers(dtype, 60).reshape(20, 3), np.empty(48, dtype)
    for row in range(5):
        load(table, row, out)
        np.testing.assert_array_equal(out.reshape(3, 16), table[row : row + 16].T)


@pytest.mark.parametrize(("dtype", "lanes"), KINDS)
def test_lanes_of_one_or_of_another(dtype, lanes):
    load = LOADS[lanes]

    @compiled
    def choose(a, b, out):
        x, y = load(a, 0), load(b, 0)
        store(out, 0, where_greater(x, y, x + x, y))

    out = np.empty(lanes, dtype)
    for seed in range(50):
        a, b = numbers(dtype, lanes, seed), numbers(dtype, lanes, seed + 100)
        with np.errstate(all="ignore"):
            choose(a, b, out)
            np.testing.assert_array_equal(out, np.where(a > b, a + a, b))


@pytest.mark.parametrize(("dtype", "lanes"), KINDS)
def test_what_all_lanes_have(dtype, lanes):
    load = LOADS[lanes]

    @compiled
    def tell(values, out):
        vector = load(values, 0)
        store(out, 0, shifted(vector))
        return least_of(vector), greatest_of(vector)

    out = np.empty(lanes, dtype)
    for seed in range(50):
        values = np.nan_to_num(numbers(dtype, lanes, seed), nan=7, posinf=np.inf, neginf=-np.inf)
        assert tell(values, out) == (values.min(), values.max())
        assert out.tolist() == [values[0], *values[:-1]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_smallest_number(dtype):
    @compiled
    def smallest(value):
        return smallest_like(value)

    assert smallest(dtype(3)) == float(np.nextafter(dtype(0), dtype(1))) > 0


def test_store_int_truncates_towards_zero():
    @compiled
    def truncate(values, out):
        store_int(out, 1, load4(values, 0))

    out = np.zeros(6, np.int32)
    truncate(np.array([2.99, -2.99, 0.5, -1e6], np.float32), out)
    assert out.tolist() == [0, 2, -2, 0, -1_000_000, 0]


def test_stores_leave_their_neighbours_alone():
    @compiled
    def copy(values, out):
        store(out, 1, load4(values, 0))
        store(out, 6, load8(values, 0))

    values, out = np.arange(8, dtype=np.float32), np.full(15, -1, np.float32)
    copy(values, out)
    assert out.tolist() == [-1, 0, 1, 2, 3, -1, 0, 1, 2, 3, 4, 5, 6, 7, -1]


def test_bits():
    @compiled
    def first_and_count(value):
        bits = np.uint32(value)
        return first_bit(bits), count_bits(bits)

    for bits in (*range(1, 256), 2**15, 2**16 - 1, 2**31):
        assert first_and_count(bits) == (bin(bits)[::-1].index("1"), bits.bit_count())


def test_what_rounding_takes_from_a_product():
    @compiled
    def error(a, b):
        return product_error(a, b)

    rng = np.random.default_rng(7)
    for a, b in rng.normal(size=(200, 2)) * 10.0 ** rng.integers(-50, 50, (200, 2)):
        assert Fraction(a * b) + Fraction(error(a, b)) == Fraction(a) * Fraction(b)
    assert error(3.0, 5.0) == 0


@compiled
def sort_lanes(values, within, keys):
    store(keys, 0, sorted_keys(load8(values, 0), np.uint32(within)))


@compiled
def bound_of(value):
    return key_bound(value)


def test_ordered_integers_sort_like_floats():
    rng = np.random.default_rng(11)
    values = (rng.normal(size=500) * 10.0 ** rng.integers(-45, 38, 500)).astype(np.float32)
    values = np.append(values, np.float32([np.inf, -np.inf, 0.0, 1e-45, -1e-45]))
    assert values[np.argsort(ordered(values))].tolist() == sorted(values.tolist())


def test_keys_sort_values_and_carry_lanes():
    rng = np.random.default_rng(8)
    keys = np.empty(8, np.int32)
    for _ in range(200):
        values = (rng.normal(size=8) * 10.0 ** rng.integers(-8, 9, 8)).astype(np.float32)
        values[rng.random(8) < 0.2] = rng.choice([np.inf, -np.inf, 0.0, 1.0])
        within = int(rng.integers(0, 256))
        sort_lanes(values, within, keys)
        count = within.bit_count()
        lanes = keys[:count] & 7
        assert sorted(lanes.tolist()) == [i for i in range(8) if within >> i & 1]
        assert (keys[count:] == NO_KEY).all()
        assert (np.diff(keys[:count].astype(np.int64)) < 0).all()
        near = values[lanes].astype(float)
        with np.errstate(invalid="ignore"):
            assert not (np.diff(near) > 1e-6 * np.abs(near[1:]) + 1e-43).any()


def test_keys_never_hide_a_value_within_the_bound():
    rng = np.random.default_rng(9)
    keys = np.empty(8, np.int32)
    for _ in range(200):
        values = (rng.normal(size=8) * 10.0 ** rng.integers(-40, 38, 8)).astype(np.float32)
        values[0], values[1] = 0.0, np.nextafter(values[2], np.float32(np.inf))
        sort_lanes(values, 255, keys)
        for limit in [*values, np.float32(np.inf), np.float32(-np.inf)]:
            bound = bound_of(limit)
            assert {int(key) & 7 for key in keys if key <= bound} >= set(np.flatnonzero(values <= limit).tolist())
        far = np.float32(values.max() * 2)
        assert all(key <= bound_of(far) for key in keys)
        below = values.min() - np.abs(values.min()) * np.float32(1e-5) - np.float32(1e-37)
        assert not any(key <= bound_of(below) for key in keys)


def test_splat_of_integers():
    @compiled
    def fill(value, out):
        store(out, 0, splat_int8(value))

    for dtype, value in ((np.int32, -5), (np.int32, 2**31 - 1), (np.uint32, 48)):
        out = np.zeros(8, dtype)
        fill(value, out)
        assert out.tolist() == [value] * 8


def test_prefetch_changes_nothing():
    @compiled
    def ahead(values):
        prefetch(values, 3)
        return values[3]

    assert ahead(np.arange(4, dtype=np.float32)) == 3


@pytest.mark.skipif(INTERPRETED or not BOUNDS_CHECKED, reason="only where NUMBA_BOUNDSCHECK=1 compiles the checks")
@pytest.mark.parametrize("index", [-1, 5, 8])
def test_loads_and_stores_are_checked(index):
    @compiled
    def copy(values, out, source, target):
        store(out, target, load4(values, source))

    values, out = np.zeros(8, np.float32), np.zeros(8, np.float32)
    copy(values, out, 4, 4)
    with pytest.raises(IndexError, match="outside its array"):
        copy(values, out, index, 0)
    with pytest.raises(IndexError, match="outside its array"):
        copy(values, out, 0, index)

    @compiled
    def fill(values, out, source):
        store(out, 0, spread8(values, source))

    with pytest.raises(IndexError, match="outside its array"):
        fill(values, out, index if index != 5 else 9)

    @compiled
    def columns(table, out, row):
        store(out, 0, load_columns16(table, row)[0])

    with pytest.raises(IndexError, match="outside their array"):
        columns(np.zeros((20, 3)), np.zeros(16), index)


@pytest.mark.parametrize("module", [vectors, lanes_module, simd_keys])
def test_nothing_public_is_left_untested(module):
    """A new operation belongs in this file."""
    public = {
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and callable(thing) and getattr(thing, "__module__", "") == module.__name__
    }
    assert public
    assert public - set(globals()) <= {"Vector", "compiled_or", "pointer_to"}


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
def test_arrays_by_their_addresses(dtype):
    """As many as the caller likes; writing there is writing to them, and none is ever let go."""

    @compiled
    def add_up(addresses, sizes, like):
        total = 0.0
        for k in range(addresses.shape[0]):
            array = array_at(addresses[k], sizes[k], like)
            for i in range(array.shape[0]):
                total += array[i]
            array[0] = k
        return total

    arrays = [np.arange(1, count + 1).astype(dtype) for count in (1, 5, 200)]
    addresses, sizes = np.array([array.ctypes.data for array in arrays]), np.array([array.size for array in arrays])
    for _ in range(3):
        wanted = float(sum(array.sum() for array in arrays))
        assert add_up(addresses, sizes, np.empty(0, dtype)) == wanted
        assert [array[0] for array in arrays] == [0, 1, 2]
