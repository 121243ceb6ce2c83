import type { SessionView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { type Asked, ask, change, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { signOut } from "../api/session.ts";
import { sessions as t } from "../text/en.ts";
import { Confirm } from "../ui/confirm.tsx";
import { Scroll } from "../ui/scroll.tsx";
import { Failure, Skeleton } from "../ui/states.tsx";
import { Mark } from "../ui/status.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

/** Where the signed-in user is signed in; each session can be ended. */
export function OwnSessions() {
  const end = (sessionId: number) => change(r.me.deleteSession, { params: { sessionId } });
  return <Sessions asked={ask(r.me.listSessions)} end={end} />;
}

/** Where a user is signed in, for who manages users. */
export function SessionsOfUser({ userId }: { userId: number }) {
  const end = (sessionId: number) => change(r.users.deleteSession, { params: { userId, sessionId } });
  return <Sessions asked={ask(r.users.listSessions, { params: { userId } })} end={end} />;
}

interface SessionsProps {
  readonly asked: Asked<readonly SessionView[]>;
  readonly end: (sessionId: number) => Promise<unknown>;
}

function Sessions({ asked, end }: SessionsProps) {
  const { data, error, refetch } = useQuery(asked);
  if (data === undefined) return error === null ? <Skeleton lines={3} /> : <Failure error={error} retry={() => void refetch()} />;
  if (data.length === 0) return <p className="muted">{t.none}</p>;
  return (
    <Scroll>
      <Table columns={[t.columns.where, t.columns.began, t.columns.used, t.columns.end]}>
        {data.map((session) => (
          <Row key={session.id} session={session} end={end} />
        ))}
      </Table>
    </Scroll>
  );
}

function Row({
  session: { id, kind, current, createdAt, lastUsedAt, address, userAgent, issuer },
  end,
}: Pick<SessionsProps, "end"> & { session: SessionView }) {
  const run = async () => {
    if (!current) {
      await end(id);
      return invalidate("me", "users");
    }
    // Its own end clears the cookie too, and the page that is loaded then asks for a sign-in.
    await signOut();
    location.reload();
  };
  return (
    <tr>
      <td>
        {current ? <Mark tone="ok" sign="✓" word={t.current} /> : t.kinds[kind]}
        <div className="muted">{[address, issuer, userAgent].filter(Boolean).join(" · ")}</div>
      </td>
      <td>
        <Time at={createdAt} />
      </td>
      <td>
        <Time at={lastUsedAt} />
      </td>
      <td>
        <Confirm small trigger={t.end} title={t.endTitle} text={current ? t.endOwn : t.endText} button={t.end} run={run} />
      </td>
    </tr>
  );
}
