// What is not mutated: log lines, the words that people read in errors and in the outbox, and the declarations of tables and
// options. A test that pins these would only repeat them; the generated reference shows each change of a declaration.
// Codes, states, names of columns in statements and SQL are mutated like all else.
import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';

/** The fields of a syntax tree node that are read. */
interface Node {
  type: string;
  name?: string;
  object?: Node;
  property?: Node;
  callee?: Node;
  key?: Node;
  id?: Node;
  expression?: Node;
  consequent?: Node;
  body?: Node;
  value?: unknown;
  quasis?: { value: { raw: string } }[];
}

interface NodePath {
  node: Node;
  parent?: Node;
  /** Place of the node in its parent. */
  key?: string | number | null;
  listKey?: string;
}

const ERRORS = ['Fatal', 'Retriable', 'Skippable', 'Ambiguous'];
const WORDS = ['message', 'hint'];
const DECLARATIONS = ['controlTable', 'durationOption', 'lookbackOption'];
/** SQL and codes begin with a small letter. */
const SENTENCE = /^[A-Z][a-z]* /;

/** A call of the log, alone or as all that a statement, a condition or a function does. */
function isLogLine(node: Node | undefined): boolean {
  switch (node?.type) {
    case 'CallExpression':
      return [node.callee?.object, node.callee?.object?.property].some((named) => named?.name === 'log');
    case 'ExpressionStatement':
      return isLogLine(node.expression);
    case 'IfStatement':
      return isLogLine(node.consequent);
    case 'ArrowFunctionExpression':
      return isLogLine(node.body);
    default:
      return false;
  }
}

function reasonNot({ node, parent, key, listKey }: NodePath): string | undefined {
  if (isLogLine(node)) return 'a line of the log';
  if (node.type === 'CallExpression' && DECLARATIONS.includes(node.callee?.name ?? ''))
    return 'a declaration of a table or an option';
  if (node.type !== 'StringLiteral' && node.type !== 'TemplateLiteral') return undefined;
  if (SENTENCE.test(String(node.value ?? node.quasis?.[0]?.value.raw))) return 'a sentence for people';
  const isMessage = parent?.type === 'NewExpression' && listKey === 'arguments' && key === 0;
  if (isMessage && ERRORS.includes(parent.callee?.name ?? '')) return 'the words of an error';
  const named = parent?.type === 'VariableDeclarator' ? parent.id : parent?.key;
  return WORDS.includes(named?.name ?? '') ? 'words for people' : undefined;
}

export const strykerPlugins = [
  declareValuePlugin(PluginKind.Ignore, 'wording', {
    shouldIgnore: (path) => reasonNot(path as unknown as NodePath),
  }),
];
