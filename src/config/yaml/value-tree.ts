// Converts the YAML document to plain values, expands references and records the position of every key and value. Aliases
// and merge keys are resolved here, under a limit, so that no document can grow without bound.
import { type Document, isAlias, isMap, isScalar, isSeq, type ParsedNode, type Scalar, type YAMLMap } from 'yaml';
import type { Path } from '../../core/schema-place.ts';
import type { OffsetIssue } from '../faults.ts';
import { type Environment, expandReferences } from './interpolation.ts';
import { unmask } from './yaml-source.ts';

export interface Place {
  /** Offset of the key, if the value has one. */
  key: number | undefined;
  /** Offset of the value. */
  value: number;
  /** The values of references in the text; empty for a literal. */
  referenced: readonly string[];
  /** The value could not be read; an issue already reports it. */
  broken: boolean;
}

export interface ValueTree {
  value: unknown;
  places: ReadonlyMap<string, Place>;
  issues: readonly OffsetIssue[];
  /** False if reading stopped at the limit: the rest of the file is unknown. */
  isComplete: boolean;
}

/** Limit of values after aliases are resolved; a real file has a few hundred. */
const MAX_VALUES = 10_000;
const MAX_DEPTH = 32;

export const placeKey = (path: Path): string => JSON.stringify(path);

type Node = ParsedNode | null | undefined;
type Values = Record<string, unknown>;

interface Reader {
  env: Environment;
  places: Map<string, Place>;
  issues: OffsetIssue[];
  anchors: Map<string, Node>;
  left: number;
}

export function readTree(document: Document.Parsed, env: Environment): ValueTree {
  const reader: Reader = { env, places: new Map(), issues: [], anchors: new Map(), left: MAX_VALUES };
  const value = readNode(reader, document.contents, [], undefined);
  return { value, places: reader.places, issues: reader.issues, isComplete: reader.left > 0 };
}

function report(reader: Reader, offset: number, path: Path, message: string, hint: string): void {
  reader.issues.push({ offset, path, message, hint });
}

/** False once the document is too large or too deep. Reported once; then reading ends. */
function isWithinLimit(reader: Reader, offset: number, path: Path): boolean {
  if (reader.left <= 0) return false;
  reader.left = path.length > MAX_DEPTH ? 0 : reader.left - 1;
  if (reader.left > 0) return true;
  const hint = 'use fewer aliases (`*name`), and none inside its own anchor';
  report(reader, offset, path.slice(0, 2), 'too many or too deeply nested values', hint);
  return false;
}

function readNode(reader: Reader, node: Node, path: Path, key: number | undefined): unknown {
  const offset = offsetOf(node, key);
  if (!isWithinLimit(reader, offset, path)) return undefined;
  const target = followAlias(reader, node, path);
  const broken = isAlias(node) && target === undefined;
  const place: Place = { key, value: offset, referenced: [], broken };
  reader.places.set(placeKey(path), place);
  if (isScalar(target)) return readScalar(reader, target, path, place);
  if (isMap(target)) return readMap(reader, target, path);
  if (isSeq(target)) return target.items.map((item, i) => readNode(reader, item as Node, [...path, i], undefined));
  return null;
}

function followAlias(reader: Reader, node: Node, path: Path): Node {
  if (isAlias(node)) {
    if (reader.anchors.has(node.source)) return reader.anchors.get(node.source);
    const hint = 'set the anchor `&name` on an earlier value';
    report(reader, offsetOf(node), path, 'the alias refers to no earlier anchor', hint);
    return undefined;
  }
  if (node?.anchor) reader.anchors.set(node.anchor, node);
  return node;
}

function readScalar(reader: Reader, node: Scalar, path: Path, place: Place): unknown {
  if (typeof node.value !== 'string') return node.value;
  const { text, referenced, problems } = expandReferences(unmask(node.value), reader.env);
  place.referenced = referenced;
  place.broken = problems.length > 0;
  for (const { message, hint } of problems) report(reader, place.value, path, message, hint);
  return text;
}

function readMap(reader: Reader, map: YAMLMap, path: Path): Values {
  const values: Values = Object.create(null);
  const firsts = firstOfEachKey(map);
  for (const pair of map.items) {
    const keyNode = pair.key as Node;
    const offset = offsetOf(keyNode);
    const key = keyText(keyNode);
    if (key === undefined) report(reader, offset, path, 'a key must be a single word', 'write `key: value`');
    else if (isMergeKey(keyNode)) mergeMap(reader, pair.value as Node, path, values, firsts);
    else if (firsts.get(key) === keyNode) {
      values[key] = readNode(reader, pair.value as Node, [...path, key], offset);
    } else report(reader, offset, [...path, key], 'is set twice', 'keep one of the two');
  }
  return values;
}

/** Adds the keys of another map; the map's own keys take precedence. */
function mergeMap(reader: Reader, node: Node, path: Path, into: Values, own: ReadonlyMap<string, Node>): void {
  if (!isWithinLimit(reader, offsetOf(node), path)) return;
  const source = followAlias(reader, node, path);
  if (isSeq(source)) {
    for (const item of source.items) mergeMap(reader, item as Node, path, into, own);
  } else if (isMap(source)) {
    for (const pair of source.items) {
      const keyNode = pair.key as Node;
      const key = keyText(keyNode);
      if (isMergeKey(keyNode)) mergeMap(reader, pair.value as Node, path, into, own);
      else if (key !== undefined && !own.has(key) && !(key in into)) {
        into[key] = readNode(reader, pair.value as Node, [...path, key], offsetOf(keyNode));
      }
    }
  } else if (source !== undefined) {
    report(reader, offsetOf(node), path, '`<<` needs a map to merge', 'write `<<: *name`');
  }
}

const offsetOf = (node: Node, otherwise = 0): number => node?.range?.[0] ?? otherwise;

const isMergeKey = (node: Node): boolean => isScalar(node) && node.type === 'PLAIN' && node.value === '<<';

/** A later key with the same name is reported as a fault. */
function firstOfEachKey(map: YAMLMap): Map<string, Node> {
  const firsts = new Map<string, Node>();
  for (const pair of map.items) {
    const key = keyText(pair.key as Node);
    if (key !== undefined && !firsts.has(key)) firsts.set(key, pair.key as Node);
  }
  return firsts;
}

function keyText(node: Node): string | undefined {
  if (!isScalar(node)) return undefined;
  return typeof node.value === 'string' ? unmask(node.value) : (node.source ?? String(node.value));
}
