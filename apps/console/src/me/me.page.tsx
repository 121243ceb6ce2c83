import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ask, change, r } from "../api/client.ts";
import { me } from "../api/session.ts";
import device from "../device/device.module.css";
import { passwordLeast } from "../settings/new-password.tsx";
import { sessions, me as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { useRun } from "../ui/confirm.tsx";
import { Field } from "../ui/field.tsx";
import { Card, Facts, Page } from "../ui/page.tsx";
import { Failure, Refusal, Skeleton } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";
import { toast } from "../ui/toast.tsx";
import { OwnSessions } from "./sessions.tsx";

/** Who is signed in, what that allows, and the password. */
export function MePage() {
  const { data } = useQuery(me);
  if (data === undefined) return <Skeleton />;
  return (
    <Page title={t.title}>
      <div className={device["columns"]}>
        <div className={device["stack"]}>
          {data.kind === "user" && (
            <Card title={sessions.title} plain>
              <OwnSessions />
            </Card>
          )}
          <Permissions held={data.permissions ?? []} scopes={data.targetTypeScopes ?? {}} />
        </div>
        <div className={device["stack"]}>
          <Card>
            <Facts
              of={[
                [t.who, data.username],
                [t.tenant, data.tenant],
                [t.kind, t.kinds[data.kind ?? "user"]],
                [t.issuer, data.issuer],
              ]}
            />
          </Card>
          {data.id !== undefined && <Password userId={data.id} />}
        </div>
      </div>
    </Page>
  );
}

function Permissions({ held, scopes }: { held: readonly string[]; scopes: Readonly<Record<string, readonly number[]>> }) {
  const { data, error, refetch } = useQuery({ ...ask(r.permissions.list), staleTime: 600_000 });
  return (
    <Card title={t.permissions} plain>
      {data === undefined && (error === null ? <Skeleton /> : <Failure error={error} retry={() => void refetch()} />)}
      <Table>
        {data
          ?.filter(({ name }) => held.includes(name))
          .map(({ name, text, targetRelated }) => (
            <tr key={name}>
              <td>
                {text}
                <div className="muted mono">{name}</div>
              </td>
              <td className="muted">{targetRelated && (scopes[name] === undefined ? t.everything : t.scoped(scopes[name].length))}</td>
            </tr>
          ))}
      </Table>
    </Card>
  );
}

function Password({ userId }: { userId: number }) {
  const [first, setFirst] = useState("");
  const [second, setSecond] = useState("");
  const run = async () => {
    await change(r.users.changePassword, { params: { userId }, body: { newPassword: first } });
    setFirst("");
    setSecond("");
    toast(t.changed);
  };
  const { busy, error, start } = useRun(run, () => undefined);
  const why = first.length < passwordLeast ? t.tooShort : first === second ? undefined : t.differ;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (why === undefined && !busy) start();
  };
  return (
    <Card title={t.password}>
      <form onSubmit={submit} className={device["stack"]}>
        <Field label={t.newPassword} hint={t.passwordText} type="password" autoComplete="new-password" value={first} onChange={setFirst} />
        <Field label={t.again} type="password" autoComplete="new-password" value={second} onChange={setSecond} />
        <Refusal error={error} />
        <Button type="submit" why={why}>
          {t.change}
        </Button>
      </form>
    </Card>
  );
}
