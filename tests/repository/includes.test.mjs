// Each source file includes the headers of what it uses, or headers that include them. Builds would
// not notice, as they compile the files of a folder as one and parse common headers beforehand; an
// editor does, and so does whoever moves a file.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../tools/build.mjs';
import { includes, sourcesIn } from './includes.mjs';

/** The names of the standard library that the sources use, by header. */
const standard = {
  algorithm: `adjacent_find all_of any_of binary_search clamp copy copy_if copy_n count count_if equal
    fill fill_n find find_if find_if_not for_each lower_bound make_heap max max_element min min_element
    minmax mismatch none_of nth_element partial_sort pop_heap push_heap replace replace_if reverse
    ranges::move sort sort_heap stable_sort swap_ranges transform unique upper_bound`,
  array: 'array to_array',
  atomic:
    'atomic memory_order_acq_rel memory_order_acquire memory_order_relaxed memory_order_release',
  bit: 'bit_cast bit_ceil countr_zero endian',
  cctype: 'tolower',
  charconv: 'from_chars to_chars',
  chrono: 'chrono milli',
  cmath: `abs ceil copysign cos exp floor fmod frexp isfinite isinf isnan ldexp log log10 nan nearbyint
    nextafter pow round signbit sin sqrt trunc`,
  concepts: 'convertible_to floating_point integral same_as signed_integral unsigned_integral',
  csetjmp: 'jmp_buf longjmp',
  csignal: 'sig_atomic_t signal',
  cstddef: 'byte ptrdiff_t to_integer',
  cstdint: `int16_t int32_t int64_t int8_t uint16_t uint32_t uint64_t uint8_t uintmax_t uintptr_t`,
  cstdio: 'snprintf',
  cstdlib: 'getenv strtod',
  cstring: 'memcpy memset strchr strcmp strlen strncpy',
  ctime: 'time_t tm',
  deque: 'deque',
  exception: 'current_exception exception exception_ptr rethrow_exception uncaught_exceptions',
  filesystem: 'filesystem',
  fstream: 'ifstream ofstream',
  functional: 'function greater hash less not_fn plus',
  initializer_list: 'initializer_list',
  iomanip: 'setprecision setw',
  iostream: 'cerr cin cout',
  iterator: 'back_inserter istream_iterator make_move_iterator ssize',
  limits: 'numeric_limits',
  list: 'list',
  map: 'map',
  memory: 'make_shared make_unique make_unique_for_overwrite shared_ptr unique_ptr',
  mutex: 'lock_guard mutex',
  new: 'align_val_t bad_alloc bad_array_new_length',
  numbers: 'numbers',
  numeric: 'accumulate inner_product iota',
  optional: 'make_optional nullopt optional',
  ostream: 'endl flush ostream',
  ranges: 'input_range range range_reference_t range_value_t views::iota',
  set: 'set',
  span: 'as_bytes as_writable_bytes span',
  sstream: 'istringstream ostringstream',
  stdexcept: 'runtime_error',
  string: 'getline stoul string to_string u32string',
  string_view: 'string_view string_view_literals u32string_view',
  system_error: 'errc error_code generic_category system_error',
  thread: 'this_thread thread',
  tuple: 'apply tie tuple',
  type_traits: 'decay_t is_arithmetic_v is_enum_v is_same_v is_void_v type_identity_t',
  unordered_map: 'unordered_map',
  utility: 'as_const exchange in_place move pair swap',
  variant: 'get_if holds_alternative variant visit',
  vector: 'vector',
};
const headerOf = new Map(
  Object.entries(standard).flatMap(([header, names]) =>
    names.split(/\s+/).map((name) => [name, header]),
  ),
);

/** Declared by every header of a container. */
const everywhere = ['begin', 'end', 'erase', 'erase_if', 'get', 'size_t', 'ranges', 'ranges::end'];
/** Formats of streams, which come with any of them. */
const ofStreams = ['fixed', 'ios', 'ios_base', 'left'];

/** Headers that include others, by the standard or because they use them. */
const streams = ['fstream', 'iostream', 'sstream'];
const containers = ['deque', 'list', 'map', 'set', 'string', 'unordered_map', 'vector'];
const includedBy = {
  cstddef: ['span'],
  exception: ['new', 'stdexcept'],
  initializer_list: [...containers, 'algorithm', 'optional', 'utility', 'variant'],
  iterator: [...containers, 'span', 'string_view', 'array'],
  ostream: streams,
  string: [...streams, 'filesystem', 'stdexcept', 'system_error'],
  string_view: ['string', 'filesystem'],
  system_error: ['charconv', 'filesystem'],
  utility: [
    ...containers,
    'algorithm',
    'array',
    'functional',
    'memory',
    'optional',
    'tuple',
    'variant',
  ],
  type_traits: ['concepts', 'utility', 'variant', 'optional', 'tuple'],
};

/** A text without comments, and without the contents of strings. */
const code = (text) =>
  text.replace(
    /\/\/.*|\/\*[^]*?\*\/|R"(\w*)\([^]*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'/g,
    (found) => (found.startsWith('/') ? ' ' : '""'),
  );
const texts = new Map(
  sourcesIn('src').map((file) => [file, code(readFileSync(join(root, file), 'utf8'))]),
);

/** All headers that a file includes, and that those include: `vector`, `src/…`. */
const reached = new Map();
function closure(file) {
  const known = reached.get(file);
  if (known) return known;
  const all = new Set();
  reached.set(file, all);
  for (const name of includes(file)) {
    const own = `src/${name}`;
    all.add(texts.has(own) ? own : name);
    if (texts.has(own)) for (const each of closure(own)) all.add(each);
  }
  return all;
}

/** Returns { types, functions }: the names that a file declares for others, at the start of a line. */
function declaredIn(text) {
  const names = (pattern) => [...text.matchAll(pattern)].map(([, name]) => name);
  return {
    types: [
      ...names(/^(?:struct|class|enum(?: class)?) (\w+)\b[^;]*?\{/gm),
      ...names(/^(?:using|concept) (\w+) =/gm),
      ...names(/^inline (?:constexpr|const) [\w:<>, ]+? (\w+)\b(?: =|\{|\[)/gm),
    ],
    functions: names(/^(?!using |return |namespace )\w[\w:<>,&*[\] ]*?[ &*](\w+)\(/gm),
  };
}

const precede =
  'return|else|new|case|throw|const|static|inline|constexpr|virtual|mutable|friend|public|and|or|not';
const introduction = new RegExp(
  `(?<=\\b(?!(?:${precede})\\b)\\w+(?:>|[.]{3})?[&*]* [&*]*)\\b\\w+`,
  'g',
);
/** The names of types, members, variables and parameters that a file has itself. */
const introducedIn = (text) => new Set(text.match(introduction));

const introduced = new Map([...texts].map(([file, text]) => [file, introducedIn(text)]));

/** The headers that declare a name. */
const declarers = { types: new Map(), functions: new Map() };
for (const [file, text] of texts) {
  if (!file.endsWith('.hpp')) continue;
  const names = declaredIn(text);
  for (const kind of ['types', 'functions']) {
    for (const name of names[kind]) {
      const known = declarers[kind].get(name) ?? new Set();
      declarers[kind].set(name, known.add(file));
    }
  }
}

const uses = {
  types: /(?<![.\w]|->|::)[A-Za-z_]\w*/g,
  functions: /(?<![.\w]|->|::)[a-z_]\w*(?=\()/g,
};

test('each file includes the headers of the project whose names it uses', () => {
  const wrong = [];
  for (const [file, text] of texts) {
    const included = closure(file);
    const body = text.replace(/^#.*$/gm, '');
    for (const kind of ['types', 'functions']) {
      for (const name of new Set(body.match(uses[kind]))) {
        const headers = declarers[kind].get(name);
        const seen = (other) => headers.has(other) || introduced.get(other)?.has(name);
        if (headers && ![file, ...included].some(seen))
          wrong.push(`${file}: ${name} of ${[...headers].join(' or ')}`);
      }
    }
  }
  assert.deepEqual(wrong, []);
});

test('each file includes the headers of the standard library whose names it uses', () => {
  const wrong = [];
  for (const [file, text] of texts) {
    const included = closure(file);
    const has = (header) =>
      included.has(header) || includedBy[header]?.some((other) => included.has(other));
    for (const [, found] of text.matchAll(/\bstd::((?:ranges::|views::)?\w+)/g)) {
      const name = headerOf.has(found) ? found : found.replace(/^(ranges|views)::/, '');
      if (everywhere.includes(name) || ofStreams.includes(name)) continue;
      const header = headerOf.get(name);
      if (!header || !has(header)) wrong.push(`${file}: std::${found} of <${header}>`);
    }
  }
  assert.deepEqual([...new Set(wrong)], []);
});
