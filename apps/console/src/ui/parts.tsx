import { useQuery } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import { type ComponentType, type ReactNode, Suspense } from "react";
import { useLacking } from "../api/permissions.ts";
import { me } from "../api/session.ts";
import { states } from "../text/en.ts";
import { Page } from "./page.tsx";
import style from "./parts.module.css";
import { Empty, Skeleton } from "./states.tsx";

/** A part of a page that has an address of its own; it is loaded when it is opened. */
export interface Part {
  readonly id: string;
  readonly label: string;
  /** Whoever may not call it does not see the part. */
  readonly needs: { readonly permission: readonly string[] };
  readonly Body: ComponentType<{ readonly part: string }>;
}

interface PartsProps {
  readonly title: string;
  readonly label: string;
  readonly to: NonNullable<LinkProps["to"]>;
  /** The part that the address names; absent, it is the first that may be seen. */
  readonly part: string | undefined;
  readonly parts: readonly Part[];
}

/** A page of parts with a navigation of its own. */
export function Parts({ title, label, to, part, parts }: PartsProps) {
  const { data } = useQuery(me);
  const held = data?.permissions ?? [];
  const seen = parts.filter(({ needs }) => needs.permission.every((name) => held.includes(name)));
  const shown = part === undefined ? (seen[0] ?? parts[0]) : parts.find(({ id }) => id === part);
  if (shown === undefined) return <Empty alone title={states.notFound} />;
  return (
    <Page title={shown.label} trail={title}>
      <div className={style["frame"]}>
        <nav aria-label={label}>
          <ul className={style["parts"]}>
            {seen.map(({ id, label: name }) => (
              <li key={id}>
                <Link to={to} params={{ part: id }} className={style["part"]} {...(id === shown.id && { "aria-current": "page" as const })}>
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <div className={style["body"]}>
          <Allowed row={shown.needs}>
            <Suspense fallback={<Skeleton lines={6} />}>
              <shown.Body part={shown.id} />
            </Suspense>
          </Allowed>
        </div>
      </div>
    </Page>
  );
}

/** What only those may see who may call an operation; others read which permission they lack. */
export function Allowed({ row, children }: { row: Part["needs"]; children: ReactNode }) {
  const lacking = useLacking(row);
  return lacking === undefined ? children : <Empty title={states.forbidden} text={states.missing(lacking)} />;
}
