# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts what an export holds: check.py FORMAT FILE. Prints "samples N" and the heaviest functions as "NAME N"; ends with an
error where the file breaks the rules of its format."""
import collections, csv, gzip, json, re, sys

kind, path = sys.argv[1:]
data = open(path, 'rb').read()
if data[:2] == b'\x1f\x8b':
	data = gzip.decompress(data)
self_n = collections.Counter()


def firefox():
	p = json.loads(data)
	shared, meta = p['shared'], p['meta']
	strings = shared['stringArray']
	columns = {
		'stackTable': 'frame prefix', 'frameTable': 'address inlineDepth category subcategory func nativeSymbol '
		'innerWindowID line column', 'funcTable': 'name isJS relevantForJS resource source lineNumber columnNumber',
		'resourceTable': 'lib name host type', 'nativeSymbols': 'libIndex address name functionSize', 'sources': 'uuid filename'}
	for table, names in columns.items():
		for name in names.split():
			assert len(shared[table][name]) == shared[table]['length'], (table, name)
	stacks, frames, functions = shared['stackTable'], shared['frameTable'], shared['funcTable']
	for i in range(stacks['length']):
		assert stacks['prefix'][i] is None or 0 <= stacks['prefix'][i] < i
		assert 0 <= stacks['frame'][i] < frames['length']
	for i in range(frames['length']):
		assert 0 <= frames['func'][i] < functions['length']
		assert 0 <= frames['category'][i] < len(meta['categories'])
	for i in range(functions['length']):
		assert -1 <= functions['resource'][i] < shared['resourceTable']['length']
	tids = [t['tid'] for t in p['threads']]
	assert len(tids) == len(set(tids)), 'tids come twice'
	for t in p['threads']:
		for table in ('samples', 'markers'):
			for name, column in t[table].items():
				assert not isinstance(column, list) or len(column) == t[table]['length'], (table, name)
		assert all(d >= 0 for d in t['samples']['timeDeltas'])
		for stack in t['samples']['stack']:
			self_n[strings[functions['name'][frames['func'][stacks['frame'][stack]]]] if stack is not None else ''] += 1


def speedscope():
	p = json.loads(data)
	frames = p['shared']['frames']
	for profile in p['profiles']:
		assert len(profile['samples']) == len(profile['weights']) and profile['type'] == 'sampled'
		assert profile['endValue'] == sum(profile['weights'])
		for stack, weight in zip(profile['samples'], profile['weights']):
			assert all(0 <= f < len(frames) for f in stack)
			self_n[frames[stack[-1]]['name'] if stack else ''] += weight
	assert p['activeProfileIndex'] < len(p['profiles'])


def chrome():
	p = json.loads(data)
	threads = collections.defaultdict(list)
	for e in p['traceEvents']:
		assert e['ph'] in 'XMi'
		if e['ph'] == 'X':
			assert e['dur'] >= 0 and e['ts'] >= 0
			threads[e['pid'], e['tid']].append((e['ts'], -e['dur'], e['name']))
	for slices in threads.values():
		open_ = []
		for ts, dur, name in sorted(slices):
			while open_ and open_[-1] <= ts + 1e-6:
				open_.pop()
			assert not open_ or ts - dur <= open_[-1] + 1e-6, 'slices overlap without being nested'
			open_.append(ts - dur)
			self_n[name] += 1


def rows_csv():
	rows = list(csv.DictReader(data.decode(errors='replace').splitlines(keepends=True)))
	for row in rows:
		assert None not in row and None not in row.values()
		assert re.fullmatch(r'\d+\.\d{9}|', row['time'])
		self_n[row['function']] += 1


def folded():
	for line in data.decode(errors='replace').splitlines():
		stack, n = line.rsplit(' ', 1)
		self_n[re.sub(r'_\[[kji]\]$', '', stack.split(';')[-1])] += int(n)


def perfetto():  # what protoc makes of it, by perfetto.proto
	names, frames, stacks, order, n = {}, {}, {}, [], 0
	message = lambda line: re.fullmatch(r'( *)f?(\d+)( \{|: (.*))', line)
	path_, fields = [], collections.defaultdict(list)

	def done(path_, fields):
		nonlocal n
		where = '/'.join(path_)
		if where == '1/12/5':
			names[fields['1'][0]] = fields['2'][0].strip('"')
		elif where == '1/12/6':
			frames[fields['1'][0]] = fields['2'][0]
		elif where == '1/12/7':
			stacks[fields['1'][0]] = fields['2']
		elif where == '1/66' and '17' not in fields:
			n += 1
			self_n[names[frames[stacks[fields['4'][0]][-1]]] if '4' in fields else ''] += 1

	levels = [fields]
	for line in data.decode(errors='replace').splitlines():
		if line.strip() == '}':
			done(path_, levels.pop())
			path_.pop()
			continue
		match = message(line)
		if not match:
			continue
		if match[3] == ' {':
			path_.append(match[2])
			levels.append(collections.defaultdict(list))
		else:
			levels[-1][match[2]].append(match[4])
	assert not path_


{'firefox': firefox, 'speedscope': speedscope, 'chrome': chrome, 'csv': rows_csv, 'folded': folded, 'perfetto': perfetto}[kind]()
print('samples', sum(self_n.values()))
for name, count in sorted(self_n.items(), key=lambda item: (-item[1], item[0])):
	print(count, name)
