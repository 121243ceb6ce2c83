import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ask, r } from "../api/client.ts";
import { commands, audit as t } from "../text/en.ts";
import api from "../ui/api-text.module.css";
import { buttonClass } from "../ui/button.tsx";
import { moment } from "../ui/format.ts";
import { Card, Facts, Page } from "../ui/page.tsx";
import { Failure, Skeleton } from "../ui/states.tsx";
import { sameEntity } from "./audit.state.ts";
import { Result } from "./result.tsx";

const route = getRouteApi("/in/audit/$auditId");

/** One entry of the trail, so that a ticket can name it. */
export function AuditEntryPage() {
  const { auditId } = route.useParams();
  const params = { auditId };
  const { data, error, refetch } = useQuery(ask(r.audit.get, { params }));
  if (data === undefined) return error === null ? <Skeleton lines={8} /> : <Failure alone error={error} retry={() => void refetch()} />;
  const { action, time, actor, entity, entityIds, sourceIp, requestId, status, errorCode, details } = data;
  return (
    <Page
      title={action}
      api={{ row: r.audit.get, params, command: commands.of("audit", "get", auditId) }}
      trail={
        <Link to="/audit" search={{}}>
          {t.title}
        </Link>
      }
      actions={
        <Link to="/audit" search={{ q: sameEntity(data) }} className={buttonClass()}>
          {t.sameEntity}
        </Link>
      }
    >
      <Card>
        <Facts
          of={[
            [t.columns.at, moment(time)],
            [t.columns.actor, actor],
            [t.columns.entity, `${entity} ${entityIds.join(", ")}`],
            [t.columns.result, <Result key="result" row={data} />],
            [t.answer, [status, errorCode].filter((one) => one !== undefined).join(" ")],
            [t.columns.from, sourceIp],
            [t.request, <code key="request">{requestId}</code>],
          ]}
        />
      </Card>
      <Card title={t.details}>
        <pre className={api["text"]}>
          <code>{JSON.stringify(details, null, 2)}</code>
        </pre>
      </Card>
    </Page>
  );
}
