/** The page that loads Swagger UI. It has no inline script, so the content security policy allows none. */
export const DOCS_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Gatehouse admin API</title>
    <link rel="stylesheet" href="/admin/docs/swagger-ui.css">
    <link rel="icon" type="image/png" href="/admin/docs/favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/admin/docs/swagger-ui-bundle.js"></script>
    <script src="/admin/docs/start.js"></script>
  </body>
</html>
`;

export const START_SCRIPT = `SwaggerUIBundle({
  url: '/admin/v1/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
});
`;

export const DOCS_HEADERS = {
  'content-security-policy':
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};
