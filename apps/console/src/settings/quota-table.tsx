import type { QuotaView } from "@harrier/contracts";
import { useState } from "react";
import { askSeen, change, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { common, quotaTitles, quotas as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { FormDialog } from "../ui/confirm.tsx";
import { Reading, type Seen } from "../ui/edited.tsx";
import { Field } from "../ui/field.tsx";
import { bytes, count } from "../ui/format.ts";
import { Scroll } from "../ui/scroll.tsx";
import { Empty } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";
import style from "./settings.module.css";

interface QuotaTableProps {
  readonly quotas: Readonly<Partial<Record<string, QuotaView>>>;
  readonly tenant: string | undefined;
}

const titleOf = (key: string) => quotaTitles[key] ?? key;
const amount = (key: string, value: number) => (key.endsWith("_BYTES") ? bytes(value) : count(value));

/** The limits of a tenant with what is used of them; the operator of the installation sets them. */
export function QuotaTable({ quotas, tenant }: QuotaTableProps) {
  const [editing, setEditing] = useState<string>();
  const settable = useLacking(r.tenantQuotas.set) === undefined && tenant !== undefined;
  const rows = Object.entries(quotas);
  if (rows.length === 0) return <Empty title={t.empty} />;
  return (
    <>
      <Scroll>
        <Table columns={[t.columns.name, t.columns.used, settable && common.actions]}>
          {rows.map(
            ([key, quota]) =>
              quota && (
                <tr key={key}>
                  <td>
                    <b>{titleOf(key)}</b>
                    <div className={style["key"]}>{key}</div>
                  </td>
                  <td>
                    <Used name={key} {...quota} />
                  </td>
                  {settable && (
                    <td>
                      <Button small look="ghost" aria-label={`${common.edit}: ${titleOf(key)}`} onClick={() => setEditing(key)}>
                        {common.edit}
                      </Button>
                    </td>
                  )}
                </tr>
              ),
          )}
        </Table>
      </Scroll>
      {editing !== undefined && tenant !== undefined && <Limit name={editing} tenant={tenant} close={() => setEditing(undefined)} />}
    </>
  );
}

/** From this share on a quota is shown in red. */
const nearly = 0.8;

function Used({ name, used, limit }: { name: string; used: number; limit: number }) {
  const share = limit > 0 ? Math.min(1, used / limit) : 0;
  return (
    <>
      <span className="num">{limit > 0 ? t.of(amount(name, used), amount(name, limit)) : t.unlimited(amount(name, used))}</span>
      {limit > 0 && (
        <div className={style["meter"]} data-tone={share > nearly ? "bad" : undefined}>
          <span style={{ width: `${100 * share}%` }} />
        </div>
      )}
    </>
  );
}

interface LimitProps {
  readonly name: string;
  readonly tenant: string;
  readonly close: () => void;
}

function Limit(props: LimitProps) {
  const { name, tenant, close } = props;
  const asked = askSeen(r.tenantQuotas.get, { params: { tenantName: tenant, key: name } });
  return (
    <Reading asked={asked} title={t.edit(titleOf(name))} close={close}>
      {(seen) => <LimitForm {...props} seen={seen} />}
    </Reading>
  );
}

function LimitForm({ name, tenant, close, seen: { body, tag, again } }: LimitProps & { seen: Seen<QuotaView> }) {
  const [typed, setText] = useState<string>();
  const text = typed ?? String(body.limit);
  const value = Number(text);
  const run = async () => {
    await change(r.tenantQuotas.set, { params: { tenantName: tenant, key: name }, body: { limit: value }, ifMatch: tag });
    await invalidate("quotas", "tenantQuotas");
  };
  const why = text.trim() === "" || !Number.isSafeInteger(value) ? t.wrong : undefined;
  return (
    <FormDialog
      open
      close={close}
      title={t.edit(titleOf(name))}
      text={t.now(amount(name, body.limit))}
      button={common.save}
      why={why}
      run={run}
      again={again}
    >
      <Field label={t.limit} hint={t.limitHint} value={text} onChange={setText} inputMode="numeric" autoFocus />
    </FormDialog>
  );
}
