// Reads the statements of SQL functions: what a body in SQL says, and every query and expression of one in PL/pgSQL, with the names of its variables.
import { parsePlPgSQLSync, parseSync } from "@libpg-query/parser";

/** @typedef {{ name: string, tree: object }} FunctionStatement One statement of a function, parsed; its variables are parameters like `$1`. */

const expression = 2; // of PostgreSQL's RawParseMode: what stands behind IF, RETURN and the like
const firstAssignment = 3;

/**
 * Answers the statements of all functions in a text of `create function` statements.
 * @param {string} sql
 * @returns {{ name: string, statements: object[] }[]} for each function its statements, as the parser of PostgreSQL answers them
 */
export function statementsOfFunctions(sql) {
  return parseSync(sql).stmts.flatMap(({ stmt, stmt_location: from = 0, stmt_len: length }) => {
    const made = stmt.CreateFunctionStmt;
    if (made === undefined) return [];
    const bytes = Buffer.from(sql);
    const text = bytes.subarray(from, length === undefined ? undefined : from + length).toString();
    const option = (name) => made.options.map(({ DefElem }) => DefElem).find(({ defname }) => defname === name)?.arg;
    const name = made.funcname.at(-1).String.sval;
    const parameters = (made.parameters ?? []).flatMap(({ FunctionParameter: one }) => one.name ?? []);
    const queries =
      option("language").String.sval === "plpgsql"
        ? plpgsqlQueries(text, parameters)
        : { texts: [option("as")?.List.items[0].String.sval ?? ""], variables: new Set(parameters) };
    return [{ name, statements: queries.texts.map((query) => withParameters(parseSync(query), queries.variables)) }];
  });
}

/** The queries of a function in PL/pgSQL, as statements, and the names of its variables. */
function plpgsqlQueries(text, parameters) {
  const [{ PLpgSQL_function: body }] = parsePlPgSQLSync(withRecords(text, parameters)).plpgsql_funcs;
  const variables = new Set(["new", "old", "found", "tg_op"]);
  const texts = [];
  const visit = (node) => {
    if (node === null || typeof node !== "object") return;
    if (Array.isArray(node)) return node.forEach(visit);
    for (const [key, part] of Object.entries(node)) {
      if (key === "refname" && typeof part === "string") variables.add(part);
      if (key === "PLpgSQL_expr") texts.push(asStatement(part));
      else visit(part);
    }
  };
  visit(body);
  return { texts, variables };
}

function asStatement({ query, parseMode = 0 }) {
  if (parseMode === expression) return `select ${query}`;
  return parseMode >= firstAssignment ? `select ${query.replace(/^.*?(?::=|=)/s, "")}` : query;
}

/** The same tree with `$0` in place of each variable, and of each member of a record. */
function withParameters(node, variables) {
  if (node === null || typeof node !== "object") return node;
  if (Array.isArray(node)) return node.map((part) => withParameters(part, variables));
  const names = node.ColumnRef?.fields.map((field) => field.String?.sval);
  if (names !== undefined && variables.has(names[0]) && (names.length > 1 || names[0] !== "tenant_id")) return { ParamRef: { number: 0 } };
  return Object.fromEntries(Object.entries(node).map(([key, part]) => [key, withParameters(part, variables)]));
}

/** The parser knows no tables, so rows whose members are changed are declared as records: parameters once more, variables in place of their type. */
function withRecords(text, parameters) {
  const changed = new Set([...text.matchAll(/\b([a-z]\w*)\.\w+ *:=/g)].map(([, name]) => name));
  let result = text;
  for (const name of changed) {
    result = parameters.includes(name)
      ? result.replace(/(\bas \$\w*\$\s*)(declare|begin)\b/, `$1declare ${name} record; $2`)
      : result.replace(new RegExp(`\\n( +)${name} \\w+;`), `\n$1${name} record;`);
  }
  return result;
}
