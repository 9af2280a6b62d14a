import { type Static, Type } from "@sinclair/typebox";
import { oauthGrantTypes } from "../../domain/api-types/enums.ts";
import { GivenName, idOf, Metadata, Subject, SubjectFilter } from "../../http/schemas.ts";
import { about, named, oneOf, orNull, partial, partly } from "../../lib/schema.ts";
import { authMethods } from "../../runtime/oauth/client-definition.ts";

const Address = Type.String({ minLength: 1, maxLength: 2048 });

const changeable = {
  issuer: about(
    "The authorization server's issuer, from which its endpoints are discovered; null: the endpoints are given.",
    orNull(Address),
  ),
  authorization_endpoint: about("Where users consent; null: that of the issuer.", orNull(Address)),
  token_endpoint: about("Where tokens are issued; null: that of the issuer.", orNull(Address)),
  revocation_endpoint: about("Where tokens are revoked; null: that of the issuer, if it has one.", orNull(Address)),
  client_id: about(
    "The client's id at the authorization server.",
    Type.String({ minLength: 1, maxLength: 2048, pattern: "^[\\x20-\\x7e]+$" }),
  ),
  client_secret: about(
    "The client's secret, which is stored encrypted and never shown; null: it has none.",
    orNull(Type.String({ minLength: 1, maxLength: 8192, pattern: "^[\\x20-\\x7e]+$" })),
  ),
  token_endpoint_auth_method: about(
    "How the client authenticates; null: as the authorization server says, by the header if it takes both.",
    orNull(oneOf(authMethods)),
  ),
  scopes: about(
    "Rights at the service that users are asked for, as it names them.",
    Type.Array(Type.String({ minLength: 1, maxLength: 256, pattern: "^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$" }), {
      maxItems: 100,
      uniqueItems: true,
    }),
  ),
  resource: about("The resource for which tokens are requested (RFC 8707); null: none.", orNull(Address)),
  audience: about(
    "The `audience` of the requests, which some authorization servers expect; null: none.",
    orNull(Type.String({ minLength: 1, maxLength: 2048 })),
  ),
  authorization_params: about(
    "Further parameters of the address where users consent, such as `access_type`.",
    named(
      "OAuthAuthorizationParams",
      Type.Record(Type.String({ pattern: "^[A-Za-z0-9_.-]{1,64}$" }), Type.String({ maxLength: 1024 }), {
        maxProperties: 20,
        additionalProperties: false,
      }),
    ),
  ),
  metadata: Metadata,
};

const { client_id, ...others } = changeable;

export const CreateOAuthClient = partly(
  {
    name: GivenName,
    grant: about(
      "How it gets tokens: for itself, or after a user consented. It cannot be changed.",
      oneOf(oauthGrantTypes),
    ),
    client_id,
  },
  {
    ...others,
    per_user: about(
      "Whether each `user_id` has an own grant; otherwise the project has one. It cannot be changed.",
      Type.Boolean(),
    ),
  },
);
export type CreateOAuthClient = Static<typeof CreateOAuthClient>;

export const UpdateOAuthClient = partial({ name: GivenName, ...changeable });
export type UpdateOAuthClient = Static<typeof UpdateOAuthClient>;

/** Body of `POST /v1/oauth_clients/:id/authorize`. */
export const AuthorizeOAuthClient = partial({
  user_id: about("The user who is to consent, for a client that is per user.", Subject),
  return_url: about(
    "Where the user goes afterwards: an address of this server, or of an origin that the project allows.",
    Address,
  ),
});
export type AuthorizeOAuthClient = Static<typeof AuthorizeOAuthClient>;

export const grantFilters = {
  oauth_client_id: about("Only items of this OAuth client.", idOf("oauth_client")),
  user_id: about("Only items of this user.", SubjectFilter),
};
