// Says which tables of a statement are read or changed without being held to a tenant. A table is held if its tenant_id is compared, in a condition
// that must be true, with a value of the caller or with the tenant_id of a table that is held; subselects, CTEs and unions pass it on by their columns.

/** @typedef {{ label: string, isTable: boolean }} Range What one name of a FROM clause stands for: a table, or rows that the statement makes. */

const columnOf = (node) => node?.ColumnRef?.fields.map((field) => field.String?.sval ?? "*");
const withoutCast = (node) => (node?.TypeCast ? withoutCast(node.TypeCast.arg) : node);
const isTenant = (node) => columnOf(withoutCast(node))?.at(-1) === "tenant_id";
const kinds = { SelectStmt: "select", InsertStmt: "insert", UpdateStmt: "update", DeleteStmt: "delete" };

/** Answers the statement in a node, as its kind and its body; undefined if the node is another thing. */
function statementIn(node) {
  for (const [key, kind] of Object.entries(kinds)) if (node?.[key] !== undefined) return { kind, body: node[key] };
  return undefined;
}

/** One statement: its ranges, and which of them pass the tenant on to which. */
class Judge {
  /** @param {(name: string) => boolean} isTenantTable whether a table or view, with or without its schema, has a tenant_id */
  constructor(isTenantTable) {
    this.isTenantTable = isTenantTable;
    this.value = { label: "value", isTable: false };
    this.tables = [];
    this.passes = new Map();
    this.unions = [];
  }

  range(label, isTable) {
    const range = { label, isTable };
    if (isTable) this.tables.push(range);
    return range;
  }

  /** If `from` is held, so is `to`. */
  pass(from, to) {
    if (from === undefined || to === undefined || from === to) return;
    if (!this.passes.has(from)) this.passes.set(from, []);
    this.passes.get(from).push(to);
  }

  both(a, b) {
    this.pass(a, b);
    this.pass(b, a);
  }

  /** The labels of the tables that nothing holds. */
  free() {
    const held = new Set();
    const queue = [];
    const hold = (range) => {
      if (held.has(range)) return;
      held.add(range);
      queue.push(range);
    };
    hold(this.value);
    for (let more = true; more; ) {
      for (let range = queue.pop(); range !== undefined; range = queue.pop()) for (const next of this.passes.get(range) ?? []) hold(next);
      more = false;
      for (const { of, arms } of this.unions) {
        if (held.has(of) || !arms.every((arm) => arm === undefined || held.has(arm))) continue;
        hold(of);
        more = true;
      }
    }
    return this.tables.filter((range) => !held.has(range)).map(({ label }) => label);
  }

  /** The range whose tenant_id a column is; `value` for what comes from the caller. */
  rangeOf(node, scopes) {
    const column = columnOf(withoutCast(node));
    if (column === undefined || column.at(-1) !== "tenant_id") return undefined;
    for (const { names } of scopes) {
      if (column.length > 1) {
        if (names.has(column.at(-2))) return names.get(column.at(-2));
      } else {
        const own = [...names.values()].find((range) => range.hasTenant);
        if (own !== undefined) return own;
      }
    }
    return undefined;
  }

  /** Where the rows of a statement get their tenant_id from: a range, or undefined if they have none. */
  statement({ kind, body }, outer, ctes) {
    const known = new Map(ctes);
    for (const { CommonTableExpr: cte } of body.withClause?.ctes ?? []) {
      const made = this.range(cte.ctename, false);
      made.uses = [];
      if (body.withClause.recursive) known.set(cte.ctename, made);
      const rows = this.statement(statementIn(cte.ctequery), outer, known);
      made.hasTenant = rows !== undefined || cte.aliascolnames?.some(({ String: name }) => name.sval === "tenant_id");
      this.pass(rows ?? this.value, made);
      made.rows = rows;
      known.set(cte.ctename, made);
    }
    if (kind === "select" && body.op !== undefined && body.op !== "SETOP_NONE") return this.union(body, outer, known);
    const scope = { names: new Map() };
    const scopes = [scope, ...outer];
    if (body.relation !== undefined) this.target(kind, body, scope);
    for (const item of [...(body.fromClause ?? []), ...(body.usingClause ?? [])]) this.from(item, scopes, known);
    this.condition(body.whereClause, scopes, known, true);
    for (const [key, part] of Object.entries(body)) {
      if (!["withClause", "fromClause", "usingClause", "whereClause", "relation", "selectStmt"].includes(key))
        this.inside(part, scopes, known);
    }
    if (kind === "insert") {
      const rows = statementIn(body.selectStmt);
      if (rows !== undefined) this.statement(rows, scopes.slice(1), known);
    }
    return this.output(kind === "select" ? body.targetList : (body.returningClause?.exprs ?? body.returningList), scopes, 0);
  }

  union({ larg, rarg }, outer, ctes) {
    const of = this.range("union", false);
    const arms = [larg, rarg].map((body) => this.statement({ kind: "select", body }, outer, ctes));
    for (const arm of arms) this.pass(of, arm);
    this.unions.push({ of, arms });
    return arms.every((arm) => arm === undefined) ? undefined : of;
  }

  /** The table that is changed. An insert writes the tenant that its rows have, and reads nothing. */
  target(kind, { relation }, scope) {
    const name = relation.schemaname ? `${relation.schemaname}.${relation.relname}` : relation.relname;
    const isTable = this.isTenantTable(name);
    const range = this.range(name, isTable && kind !== "insert");
    range.hasTenant = isTable;
    if (kind === "insert") this.pass(this.value, range);
    scope.names.set(relation.alias?.aliasname ?? relation.relname, range);
  }

  /** One item of a FROM clause; answers the names that it brings. */
  from(item, scopes, ctes) {
    const { names } = scopes[0];
    const { RangeVar: table, JoinExpr: join, RangeSubselect: sub } = item;
    if (join !== undefined) return this.join(join, scopes, ctes);
    let range;
    let name;
    if (table !== undefined) {
      name = table.alias?.aliasname ?? table.relname;
      const full = table.schemaname ? `${table.schemaname}.${table.relname}` : table.relname;
      const cte = table.schemaname ? undefined : ctes.get(table.relname);
      range = this.range(full, cte === undefined && this.isTenantTable(full));
      range.hasTenant = cte === undefined ? range.isTable : cte.hasTenant !== false;
      if (cte !== undefined) {
        this.pass(cte, range);
        cte.uses.push(range);
        // What one use is held to says nothing of the rows of another: all of them must be held.
        if (cte.uses.length === 1 && cte.rows !== undefined) this.unions.push({ of: cte.rows, arms: cte.uses });
      }
    } else if (sub !== undefined) {
      name = sub.alias?.aliasname;
      const rows = this.statement(statementIn(sub.subquery), scopes, ctes);
      range = this.range(name, false);
      range.hasTenant = rows !== undefined || sub.alias?.colnames?.some(({ String: column }) => column.sval === "tenant_id");
      this.both(rows ?? this.value, range);
    } else {
      const [made] = Object.values(item);
      name = made.alias?.aliasname ?? "";
      range = this.range(name, false);
      range.hasTenant = true;
      this.pass(this.value, range);
      this.inside(made, scopes, ctes);
    }
    names.set(name, range);
    return [name];
  }

  join({ larg, rarg, jointype, quals, usingClause }, scopes, ctes) {
    const left = this.from(larg, scopes, ctes);
    const right = this.from(rarg, scopes, ctes);
    const keeps = { JOIN_LEFT: new Set(left), JOIN_RIGHT: new Set(right), JOIN_FULL: new Set([...left, ...right]) }[jointype] ?? new Set();
    const { names } = scopes[0];
    // An outer join keeps the rows of its side whatever its condition says.
    const kept = new Set([...keeps].map((name) => names.get(name)));
    if (usingClause?.some(({ String: name }) => name.sval === "tenant_id")) {
      const withTenant = (side) => side.map((name) => names.get(name)).find((range) => range.hasTenant);
      this.equal(withTenant(left), withTenant(right), kept);
    }
    this.condition(quals, scopes, ctes, true, kept);
    return [...left, ...right];
  }

  equal(a, b, kept = new Set()) {
    if (!kept.has(b)) this.pass(a, b);
    if (!kept.has(a)) this.pass(b, a);
  }

  /** A condition. Only what must be true holds a table: the parts of AND, not those of OR or NOT. */
  condition(node, scopes, ctes, isNeeded, kept) {
    if (node === undefined) return;
    const { BoolExpr: bool, A_Expr: compared, SubLink: link } = node;
    if (bool !== undefined) {
      for (const part of bool.args) this.condition(part, scopes, ctes, isNeeded && bool.boolop === "AND_EXPR", kept);
    } else if (compared !== undefined) {
      if (isNeeded) this.comparison(compared, scopes, kept);
      this.inside(compared, scopes, ctes);
    } else if (link !== undefined) {
      this.link(link, scopes, ctes, isNeeded, kept);
    } else this.inside(node, scopes, ctes);
  }

  comparison({ kind, name, lexpr, rexpr }, scopes, kept) {
    if (name?.[0]?.String?.sval !== "=" || !["AEXPR_OP", "AEXPR_OP_ANY", "AEXPR_IN"].includes(kind)) return;
    const list = rexpr.RowExpr?.args ?? (rexpr.List ? rexpr.List.items.slice(0, 1) : [rexpr]);
    for (const [at, side] of (lexpr.RowExpr?.args ?? [lexpr]).entries()) {
      const other = list[at];
      if (isTenant(side)) this.held(side, other, scopes, kept);
      if (isTenant(other) && !isTenant(side)) this.held(other, side, scopes, kept);
    }
  }

  /** `tenant_id = other`: another tenant_id holds it and is held by it; a value of the caller holds it. */
  held(tenant, other, scopes, kept = new Set()) {
    const range = this.rangeOf(tenant, scopes);
    if (isTenant(other)) {
      const from = this.rangeOf(other, scopes);
      const isOuter = (one) => ![...scopes[0].names.values()].includes(one);
      // What a subselect says of a table outside of it holds that table only if the subselect must find something; it is not followed.
      if (!isOuter(range) && !kept.has(range)) this.pass(from, range);
      if (from !== undefined && !isOuter(from) && !kept.has(from)) this.pass(range, from);
    } else if (range !== undefined && !kept.has(range)) {
      const column = columnOf(withoutCast(other));
      if (column?.length === 2) this.pass(scopes.find(({ names }) => names.has(column[0]))?.names.get(column[0]), range);
      else if (isElementOfGiven(other) || !hasColumn(other)) this.pass(this.value, range);
    }
  }

  /** A subselect in an expression: `(tenant_id, id) in (select …)` holds the tables outside of it, and is held by them. */
  link({ subLinkType, testexpr, subselect, operName }, scopes, ctes, isNeeded, kept = new Set()) {
    const inner = statementIn(subselect);
    const rows = this.statement(inner, scopes, ctes);
    const isIn = subLinkType === "ANY_SUBLINK" && (operName === undefined || operName[0].String.sval === "=");
    if (testexpr !== undefined && isIn) {
      const at = (testexpr.RowExpr?.args ?? [testexpr]).findIndex(isTenant);
      const range = at < 0 ? undefined : this.rangeOf((testexpr.RowExpr?.args ?? [testexpr])[at], scopes);
      this.pass(range, rows);
      if (isNeeded && !kept.has(range)) this.pass(rows ?? this.value, range);
    }
    this.inside(testexpr, scopes, ctes);
  }

  /** What stands anywhere else: only the statements in it count. */
  inside(node, scopes, ctes) {
    if (node === null || typeof node !== "object") return;
    if (Array.isArray(node)) {
      for (const part of node) this.inside(part, scopes, ctes);
      return;
    }
    if (node.SubLink !== undefined) this.link(node.SubLink, scopes, ctes, false);
    else if (statementIn(node) !== undefined) this.statement(statementIn(node), scopes, ctes);
    else for (const part of Object.values(node)) this.inside(part, scopes, ctes);
  }

  /** The range of the tenant_id among the columns of a statement, also by `*` and `x.*`. */
  output(list, scopes) {
    for (const { ResTarget: target } of list ?? []) {
      const column = columnOf(withoutCast(target.val));
      if (target.name === "tenant_id" && column?.at(-1) !== "tenant_id") return this.value;
      if ((target.name ?? "tenant_id") === "tenant_id" && column?.at(-1) === "tenant_id")
        return this.rangeOf(target.val, scopes) ?? this.value;
      if (column?.at(-1) !== "*") continue;
      const { names } = scopes[0];
      const found = column.length > 1 ? names.get(column.at(-2)) : [...names.values()].find((range) => range.hasTenant);
      if (found?.hasTenant) return found;
    }
    return undefined;
  }
}

/** Whether an expression is an element of a list of the caller: whichever it is, the caller has given it. */
function isElementOfGiven(node) {
  return withoutCast(withoutCast(node)?.A_Indirection?.arg)?.ParamRef !== undefined;
}

/** Whether an expression has a column, whose value another row decides. */
function hasColumn(node) {
  if (node === null || typeof node !== "object") return false;
  if (node.ColumnRef !== undefined || node.SubLink !== undefined) return true;
  return Object.values(node).some(hasColumn);
}

/**
 * Answers the names of the tables of a parsed statement that nothing holds to a tenant, in the order in which they stand there.
 * @param {{ stmts: { stmt: object }[] }} tree as the parser of PostgreSQL answers it
 * @param {(name: string) => boolean} isTenantTable
 * @returns {string[]}
 */
export function notHeld(tree, isTenantTable) {
  const judge = new Judge(isTenantTable);
  for (const { stmt } of tree.stmts) {
    const found = statementIn(stmt);
    if (found !== undefined) judge.statement(found, [], new Map());
  }
  return judge.free();
}
